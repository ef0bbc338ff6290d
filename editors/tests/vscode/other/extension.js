// What matters of the other extension: whether it would start its server is decided as it is activated.
const vscode = require("vscode");

exports.activate = (context) => {
  const item = vscode.window.createStatusBarItem("other", vscode.StatusBarAlignment.Left, 1000);
  item.text = `other server ${vscode.workspace.getConfiguration("OpenCL.server").get("enable") ? "runs" : "is off"}`;
  item.show();
  context.subscriptions.push(item);
};
