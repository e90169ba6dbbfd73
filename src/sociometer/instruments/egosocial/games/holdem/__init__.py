"""Limit Texas hold'em for two players: rules, fast simulator, trained opponents and the ideal observer."""
