"""SESI: the Situational Evaluation of Social Intelligence, its factor probes and its construction."""
