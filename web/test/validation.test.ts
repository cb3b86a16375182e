import { expect, it } from 'vitest';
import { ApiError } from '../src/api/client';
import { verdictOf } from '../src/pages/submit/useValidation';

it.each([[400, 'invalid'], [403, 'invalid'], [409, 'invalid'], [0, 'unknown'], [429, 'unknown'], [500, 'unknown'], [503, 'unknown'], [504, 'unknown']])(
  'takes an answer with %i for %s',
  (status, state) => expect(verdictOf(new ApiError(status, '', 'x')).state).toBe(state),
);
