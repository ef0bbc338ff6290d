// What the suites share: named tests that go on after a failure, and waiting.
exports.wait = async (what, ms = 40000) => {
  const start = Date.now();
  for (;;) {
    const value = await what();
    if (value) return value;
    if (Date.now() - start > ms) throw new Error(`timeout waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

exports.suite = () => {
  let passed = 0;
  let failed = 0;
  return {
    test: async (name, body) => {
      try {
        await body();
        passed++;
        console.log(`e2e: ok   ${name}`);
      } catch (error) {
        failed++;
        console.log(`e2e: FAIL ${name}: ${error.stack ?? error}`);
      }
    },
    finish: () => {
      console.log(`e2e: ${passed} passed, ${failed} failed`);
      if (failed) throw new Error(`${failed} failed`);
    },
  };
};
