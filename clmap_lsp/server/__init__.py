"""The language server: LSP in, LSP out. No other room knows lsprotocol or pygls."""
