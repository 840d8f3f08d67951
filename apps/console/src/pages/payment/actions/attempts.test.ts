import { PaylogConnectionError, PaylogError } from '@paylog/client/errors'
import t from 'tap'
import { createAttemptMemory, endingOf, mayBeDone } from './attempts.ts'

const error = (status: number, code: string) =>
  new PaylogError(new Response(null, { status }), { success: false, error: { code, message: code } })

t.test('only a definite error ends an attempt', async (t) => {
  for (const [status, code] of [
    [400, 'invalid_request'],
    [402, 'payment_declined'],
    [409, 'payment_not_refundable'],
    [412, 'precondition_failed'],
    [422, 'provider_rejected'],
  ] as const)
    t.equal(endingOf(error(status, code)), 'definite', code)
  for (const [status, code] of [
    [401, 'unauthenticated'],
    [408, 'invalid_request'],
    [409, 'idempotency_key_in_flight'],
    [429, 'rate_limited'],
    [500, 'internal_error'],
    [503, 'event_store_unavailable'],
    [504, 'provider_outcome_unknown'],
  ] as const)
    t.equal(endingOf(error(status, code)), 'unknown', code)
  t.equal(endingOf(new PaylogConnectionError('timeout')), 'unknown')
  t.equal(endingOf(new Error('bug')), 'unknown')
})

t.test('mayBeDone is true where the provider may have acted', async (t) => {
  t.ok(mayBeDone(error(504, 'provider_outcome_unknown')))
  t.ok(mayBeDone(new PaylogConnectionError('timeout')))
  t.notOk(mayBeDone(error(401, 'unauthenticated')))
  t.notOk(mayBeDone(error(422, 'provider_rejected')))
})

t.test('an open attempt keeps its key and content until it is forgotten', async (t) => {
  const keys = ['k-1', 'k-2', 'k-3']
  const memory = createAttemptMemory(() => keys.shift() ?? '')
  const attempt = { ...memory.begin('refund p'), input: { amount_cents: 500 } }
  memory.remember('refund p', attempt)
  t.same(memory.begin('refund p'), { key: 'k-1', input: { amount_cents: 500 } })
  t.same(memory.begin('refund other'), { key: 'k-2', input: undefined })
  memory.forget('refund p')
  t.same(memory.begin('refund p'), { key: 'k-3', input: undefined })
})
