import { PaylogConnectionError, PaylogError } from '@paylog/client/errors'
import t from 'tap'
import { createActionStore, type RepeatEffect } from './actionStore.ts'
import { effectOf } from './effect.ts'

const error = (status: number, code: string) =>
  new PaylogError(new Response(null, { status }), { success: false, error: { code, message: code } })
const inFlight = error(409, 'idempotency_key_in_flight')
const noResponse = new PaylogConnectionError('timeout')

t.test('effectOf says whether a request with the key may have had an effect', async (t) => {
  const expected = {
    none: [error(400, 'invalid_request'), error(402, 'payment_declined'), error(422, 'provider_rejected')],
    unknown: [
      ...[inFlight, noResponse, new Error('bug'), error(504, 'provider_outcome_unknown')],
      ...[error(500, 'internal_error'), error(502, 'provider_unavailable'), error(503, 'event_store_unavailable')],
    ],
    'not this one': [
      ...[error(401, 'unauthenticated'), error(408, 'invalid_request'), error(429, 'rate_limited')],
      ...[error(503, 'service_unavailable'), error(409, 'concurrent_modification')],
    ],
  }
  for (const [effect, errors] of Object.entries(expected))
    t.same(
      errors.map(effectOf),
      errors.map(() => effect),
      errors.map(({ message }) => message).join(),
    )
})

/** An API that responds with each of these once: an error, or a result. A response may be awaited. */
function storeOf(
  responses: unknown[],
  effect: RepeatEffect = 'once',
  stored: { text: string | null } = { text: null },
) {
  const sent: object[] = []
  let keys = 0
  const create = () =>
    createActionStore({
      storage: { getItem: () => stored.text, setItem: (_key, text) => void Object.assign(stored, { text }) },
      newKey: () => `k-${++keys}`,
      pausesMs: [1, 1],
    })
  let store = create()
  return {
    sent,
    reload: () => (store = create()),
    state: () => store.state('refund'),
    leave: () => store.leave('refund'),
    run: (input: unknown) =>
      store.run('refund', {
        input,
        effect,
        async send(asked, attempt) {
          sent.push([asked, attempt.key, attempt.isRepeated])
          const response = await responses.shift()
          if (response instanceof Error) throw response
          return response
        },
      }),
  }
}

t.test('a second request in the same frame is not sent', async (t) => {
  const { run, sent, state } = storeOf(['done'])
  await Promise.all([run(500), run(500)])
  await run(500)
  t.same(sent, [[500, 'k-1', false]], 'nor one after the result')
  t.match(state(), { success: { result: 'done' }, isRunning: false, isUnknown: false })
})

t.test('a request that is in flight is repeated with its key until its outcome is known', async (t) => {
  const { run, sent, state } = storeOf([inFlight, noResponse, 'done'])
  const running = run(500)
  await new Promise((resolve) => setImmediate(resolve))
  t.match(state(), { isRunning: true, isUnknown: true }, 'and says so meanwhile')
  await running
  t.same(sent, [
    [500, 'k-1', false],
    [500, 'k-1', true],
    [500, 'k-1', true],
  ])
  t.match(state(), { success: { result: 'done' }, isUnknown: false })
})

t.test('an unknown outcome keeps key and content, when the dialog is closed and after a reload', async (t) => {
  const unknown = error(504, 'provider_outcome_unknown')
  const { run, sent, state, leave, reload } = storeOf([
    unknown,
    unknown,
    unknown,
    error(401, 'unauthenticated'),
    'done',
  ])
  await run(500)
  t.match(state(), { isRunning: false, isUnknown: true, attempt: { input: 500 } }, 'the repetitions are bounded')
  leave()
  await run(700)
  t.match(state(), { isUnknown: true }, 'an expired session says nothing about it')
  reload()
  t.match(state(), { isUnknown: true, attempt: { input: 500 } })
  await run(700)
  t.same(sent.slice(2), [
    [500, 'k-1', true],
    [500, 'k-1', true],
    [500, 'k-1', true],
  ])
  leave()
  t.match(state(), { success: undefined, attempt: undefined })
})

t.test(
  'another request has another key after a shown result, and after an error that says that nothing was done',
  async (t) => {
    const { run, sent, state, leave } = storeOf([error(422, 'provider_rejected'), 'done', 'done'])
    await run(500)
    t.match(state(), { error: { code: 'provider_rejected' }, attempt: undefined })
    await run(400)
    leave()
    await run(300)
    t.same(sent, [
      [500, 'k-1', false],
      [400, 'k-2', false],
      [300, 'k-3', false],
    ])
  },
)

t.test('a result that arrives after the dialog was closed is shown by the next one', async (t) => {
  let respond = (_result: string) => {}
  const { run, sent, state, leave } = storeOf([new Promise((resolve) => (respond = resolve))])
  const running = run(500)
  leave()
  await run(500)
  respond('done')
  await running
  t.match(state(), { success: { result: 'done' } })
  await run(500)
  t.equal(sent.length, 1)
})

t.test('a request that may do the same again is repeated by a person only', async (t) => {
  const { run, sent, state } = storeOf([noResponse, error(409, 'payment_not_capturable')], 'each time')
  await run(500)
  t.match(state(), { isRunning: false, isUnknown: true })
  t.equal(sent.length, 1)
  await run(500)
  t.match(state(), { isUnknown: false, isDoubtful: true, error: { code: 'payment_not_capturable' } })
})

t.test('a dry run that failed may simply run again', async (t) => {
  const { run, state, reload } = storeOf([noResponse, 'counted'], 'none')
  await run('all')
  t.match(state(), { isRunning: false, isUnknown: false, error: noResponse })
  await run('all')
  t.match(reload().state('refund'), { isUnknown: false }, 'nothing of it is kept')
})
