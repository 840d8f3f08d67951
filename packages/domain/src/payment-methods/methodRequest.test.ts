import { given } from '@paylog/testing/assertions'
import t from 'tap'
import { recordedResponse } from '../idempotentRequest.ts'
import type { MethodRequestEvent } from './events.ts'
import { methodRequestInFlightMs, methodRequestRules } from './paymentMethod.ts'

const { fold: methodRequestFold, begin: beginMethodRequest, end: endMethodRequest } = methodRequestRules

const start = Date.parse('2026-01-01T00:00:00.000Z')
const at = (ms: number) => new Date(start + ms).toISOString()
const request_id = '018f0000-0000-7000-8000-000000000001'
const payment_method_id = '018f0000-0000-5000-8000-000000000002'
const begin = (ms = 0, request_fingerprint = 'a') => ({
  request_id,
  occurred_at: at(ms),
  provider_id: 'stripe',
  request_fingerprint,
})
const command = (...args: Parameters<typeof begin>) => ({ begun: begin(...args), inFlightMs: methodRequestInFlightMs })
const begun = (ms = 0): MethodRequestEvent => ({ type: 'PaymentMethodRequested', data: begin(ms) })
const saved = { kind: 'saved', payment_method_id, revision: 0, created: true, is_default: false } as const
const declined = { kind: 'declined', message: 'No' } as const
const failed = { kind: 'failed' } as const
const end = (answer: typeof saved | typeof declined | typeof failed) => ({ request_id, occurred_at: at(1), answer })
const ended = (answer: typeof saved | typeof declined | typeof failed): MethodRequestEvent => ({
  type: 'PaymentMethodRequestAnswered',
  data: end(answer),
})

t.test('the first method request with a key is recorded', async (t) => {
  given(t, methodRequestFold, [])
    .when((state) => beginMethodRequest(command(), state))
    .then([{ type: 'PaymentMethodRequested', data: begin() }])
})

t.test(
  'a second method request is in flight for methodRequestInFlightMs after the first, and begins after that',
  async (t) => {
    given(t, methodRequestFold, [begun()])
      .when((state) => beginMethodRequest(command(methodRequestInFlightMs - 1), state))
      .thenThrows('idempotency_key_in_flight')
    const again = given(t, methodRequestFold, [begun()])
      .when((state) => beginMethodRequest(command(methodRequestInFlightMs), state))
      .then([{ type: 'PaymentMethodRequested' }])
    t.throws(
      () => recordedResponse(command(methodRequestInFlightMs + 1), again),
      { code: 'idempotency_key_in_flight' },
      'a third is in flight again',
    )
  },
)

t.test('a failed method request may be repeated at once', async (t) => {
  given(t, methodRequestFold, [begun(), ended(failed)])
    .when((state) => beginMethodRequest(command(2), state))
    .then([{ type: 'PaymentMethodRequested' }])
})

t.test('the recorded result of a method request never changes', async (t) => {
  for (const answer of [saved, declined]) {
    const state = given(t, methodRequestFold, [begun(), ended(answer)])
      .when((state) => beginMethodRequest(command(2), state))
      .then([])
    t.same(recordedResponse(command(3), state), answer)
    for (const late of [saved, declined, failed])
      given(t, methodRequestFold, [begun(), ended(answer)])
        .when((state) => endMethodRequest(end(late), state))
        .then([])
  }
  const late = [begun(), ended(saved), begun(5), ended(failed)].reduce(
    methodRequestFold.evolve,
    methodRequestFold.initialState,
  )
  t.same(recordedResponse(command(6), late), saved, 'later events do not change it')
})

t.test('another method request with the same key is idempotency_key_reused in every state', async (t) => {
  for (const history of [[begun()], [begun(), ended(failed)], [begun(), ended(saved)], [begun(), ended(declined)]])
    given(t, methodRequestFold, history)
      .when((state) => beginMethodRequest(command(methodRequestInFlightMs, 'b'), state))
      .thenThrows('idempotency_key_reused')
})

t.test('a result is not recorded for a method request that never began', async (t) => {
  given(t, methodRequestFold, [])
    .when((state) => endMethodRequest(end(saved), state))
    .then([])
  t.same([ended(saved)].reduce(methodRequestFold.evolve, methodRequestFold.initialState), { status: 'none' })
})
