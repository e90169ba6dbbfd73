"""What may be said about stored runs: which are selected and compared, their labels, rankings and corrections."""
