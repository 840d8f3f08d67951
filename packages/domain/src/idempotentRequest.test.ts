import { given } from '@paylog/testing/assertions'
import t from 'tap'
import {
  endRequest,
  idempotentRequestFold as fold,
  type IdempotentRequestEvent,
  recordedResponse,
  requestInFlightMs,
  startRequest,
} from './idempotentRequest.ts'

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
const command = (...args: Parameters<typeof begin>) => ({ ...begin(...args), inFlightMs: requestInFlightMs })
const started = (ms = 0): IdempotentRequestEvent => ({ type: 'IdempotentRequestStarted', data: begin(ms) })
const saved = { kind: 'saved', payment_method_id, revision: 0, created: true, is_default: false } as const
const declined = { kind: 'declined', message: 'No' } as const
const failed = { kind: 'failed' } as const
const end = (response: typeof saved | typeof declined | typeof failed) => ({ request_id, occurred_at: at(1), response })
const ended = (answer: typeof saved | typeof declined | typeof failed): IdempotentRequestEvent => ({
  type: 'IdempotentRequestEnded',
  data: end(answer),
})

t.test('the first request with a key is recorded', async (t) => {
  given(t, fold, [])
    .when((state) => startRequest(command(), state))
    .then([{ type: 'IdempotentRequestStarted', data: begin() }])
})

t.test('a second request is in flight for requestInFlightMs after the first, and begins after that', async (t) => {
  given(t, fold, [started()])
    .when((state) => startRequest(command(requestInFlightMs - 1), state))
    .thenThrows('idempotency_key_in_flight')
  const again = given(t, fold, [started()])
    .when((state) => startRequest(command(requestInFlightMs), state))
    .then([{ type: 'IdempotentRequestStarted' }])
  t.throws(
    () => recordedResponse(command(requestInFlightMs + 1), again),
    { code: 'idempotency_key_in_flight' },
    'a third is in flight again',
  )
})

t.test('a failed request may be repeated at once', async (t) => {
  given(t, fold, [started(), ended(failed)])
    .when((state) => startRequest(command(2), state))
    .then([{ type: 'IdempotentRequestStarted' }])
})

t.test('the recorded result of a request never changes', async (t) => {
  for (const answer of [saved, declined]) {
    const state = given(t, fold, [started(), ended(answer)])
      .when((state) => startRequest(command(2), state))
      .then([])
    t.same(recordedResponse(command(3), state), answer)
    for (const late of [saved, declined, failed])
      given(t, fold, [started(), ended(answer)])
        .when((state) => endRequest(end(late), state))
        .then([])
  }
  const late = [started(), ended(saved), started(5), ended(failed)].reduce(fold.evolve, fold.initialState)
  t.same(recordedResponse(command(6), late), saved, 'later events do not change it')
})

t.test('another request with the same key is idempotency_key_reused in every state', async (t) => {
  for (const history of [
    [started()],
    [started(), ended(failed)],
    [started(), ended(saved)],
    [started(), ended(declined)],
  ])
    given(t, fold, history)
      .when((state) => startRequest(command(requestInFlightMs, 'b'), state))
      .thenThrows('idempotency_key_reused')
})

t.test('a result is not recorded for a request that never started', async (t) => {
  given(t, fold, [])
    .when((state) => endRequest(end(saved), state))
    .then([])
  t.same([ended(saved)].reduce(fold.evolve, fold.initialState), null)
})
