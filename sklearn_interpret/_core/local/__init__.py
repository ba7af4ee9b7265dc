"""Local surrogates: masks, neighbourhood weights, linear fits, tokens."""
