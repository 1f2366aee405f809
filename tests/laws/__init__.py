"""Laws: what holds for every registered learner and every loss it accepts."""
