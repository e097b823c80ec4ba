"""What the rules of every check share: severities, how a rule is explained, and reports for other programs."""
