"""Output formats: text, JSON documents, HTML pages, ITF traces and SARIF logs."""
