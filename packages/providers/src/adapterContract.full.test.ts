// What every adapter does when its provider fails: nothing is done twice, and no unknown outcome is reported as done or
// failed.
import type { Fault } from '@paylog/testing/fakeServer'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { firstPut } from './stripe/testing/catalogHarness.ts'
import { intent, type Operation, operations, refTo, startFakes } from './testing/contractOperations.ts'
import { connect } from './testing/providerHarness.ts'

// They mostly wait.
t.jobs = 4

const unknown = { name: 'ProviderError', kind: 'unknown' }
const unavailable = { name: 'ProviderError', kind: 'unavailable' }
const text = (fault: Fault) => JSON.stringify(fault)

/** The response to a single request is lost. */
const lost: readonly Fault[] = [true, false].flatMap((commits): Fault[] => [
  { kind: 'drop', commits },
  { kind: 'garbage', commits },
  { kind: 'status', status: 500, commits },
  { kind: 'status', status: 502, commits },
])
const silent: readonly Fault[] = [
  { kind: 'hang', commits: true },
  { kind: 'hang', commits: false },
  { kind: 'slow', ms: 4_000 },
]
const throttled: Fault = { kind: 'status', status: 429, commits: false, retryAfter: '0' }

const commits = (fault: Fault) => 'commits' in fault && fault.commits

const timed = async <Result>(act: () => Promise<Result>) => {
  const startedAt = performance.now()
  await act()
  return performance.now() - startedAt
}

for (const { name, start, effect, isRepeatable, readsFirst } of operations) {
  /** Runs a check for each fault, at the same time. */
  const forEach = (
    t: Test,
    timeoutMs: number,
    faults: readonly Fault[],
    check: (it: Operation, fault: Fault) => Promise<void>,
  ) => Promise.all(faults.map(async (fault) => check(await start(t, timeoutMs), fault)))

  t.test(`${name}: a call whose response is lost twice is repeated with its key, and done once`, async (t) => {
    await forEach(t, 10_000, lost, async ({ act, faults, effects, keys }, fault) => {
      faults.next(fault, fault)
      if (isRepeatable) await act()
      else await t.rejects(act(), unknown, text(fault))
      t.equal(keys().length, isRepeatable ? 3 : 1, `requests after ${text(fault)}`)
      t.equal(new Set(keys()).size, 1, 'one key')
      if (isRepeatable) t.equal(effects(), effect, text(fault))
    })
  })

  t.test(`${name}: a call whose responses are all lost is unknown, and a later one does it once`, async (t) => {
    await forEach(t, 10_000, lost, async ({ act, faults, effects, keys }, fault) => {
      faults.always(fault)
      await t.rejects(act(), unknown, text(fault))
      t.equal(keys().length, isRepeatable ? 3 : 1, text(fault))
      t.equal(effects(), commits(fault) ? effect : 0, text(fault))
      faults.always(undefined)
      await act(true)
      t.equal(effects(), effect, text(fault))
    })
  })

  t.test(`${name}: a call without a response is unknown when its time is over`, async (t) => {
    await forEach(t, 2_000, silent, async ({ act, faults, effects, keys }, fault) => {
      faults.always(fault)
      const ms = await timed(() => t.rejects(act(), { ...unknown, code: 'timeout' }, text(fault)))
      t.ok(ms >= 1_900 && ms < 10_000, `${ms} ms`)
      t.equal(keys().length, 1, 'no time is left for another request')
      if (fault.kind !== 'slow') t.equal(effects(), commits(fault) ? effect : 0)
    })
  })

  t.test(`${name}: a slow response within the time is accepted`, async (t) => {
    const { act, faults, effects, keys } = await start(t, 10_000)
    faults.next({ kind: 'slow', ms: 300 })
    await act()
    t.same([keys().length, effects()], [1, effect])
  })

  t.test(`${name}: a throttled call is repeated, and done once`, async (t) => {
    const { act, faults, effects, keys } = await start(t, 10_000)
    faults.next(throttled, throttled)
    await act()
    t.same([keys().length, effects()], [3, effect])
  })

  t.test(`${name}: a call that is throttled until its time is over is unavailable, and not done`, async (t) => {
    const { act, faults, effects } = await start(t, 2_000)
    faults.always({ ...throttled, retryAfter: '60' })
    const ms = await timed(() => t.rejects(act(), unavailable))
    t.ok(ms >= 600, `only after its time is over, not after ${ms} ms`)
    t.equal(effects(), 0)
  })

  if (readsFirst)
    t.test(`${name}: its requests share one time limit`, async (t) => {
      const { act, faults, readFaults, effects } = await start(t, 3_000)
      readFaults.always({ kind: 'slow', ms: 1_200 })
      faults.always({ kind: 'hang', commits: false })
      // Unavailable when the reads have used up the time, so that nothing more is sent.
      const ms = await timed(() => t.rejects(act(), { name: 'ProviderError' }))
      t.equal(effects(), 0)
      // Two limits would take another second at least.
      t.ok(ms < 4_000, `${ms} ms`)
    })

  if (effect === 1 && !name.startsWith('authorize-net'))
    t.test(`${name}: two calls with one key at the same time do it once`, async (t) => {
      const { act, faults, effects } = await start(t, 10_000)
      faults.next({ kind: 'slow', ms: 300 })
      await Promise.all([act(), act()])
      t.equal(effects(), 1)
    })
}

for (const { name, start } of operations.filter(({ name }) => name.endsWith('createIntent')))
  t.test(`${name}: closing the adapter ends its calls`, async (t) => {
    const { act, faults, provider, keys } = await start(t, 60_000)
    faults.always({ kind: 'hang', commits: false })
    const before = keys().length
    const call = t.rejects(act(), unknown)
    await waitFor(() => keys().length === before + 1, { what: 'the request' })
    await provider.close()
    await call
    await t.rejects(act(), { name: 'ProviderError' })
    t.equal(keys().length, before + 1, 'nothing more is sent')
  })

for (const [name, start] of Object.entries(startFakes))
  t.test(`${name}: a provider that cannot be reached is unavailable`, async (t) => {
    const [{ env }, port] = await Promise.all([start(t), freePort()])
    const origin = `http://127.0.0.1:${port}`
    const elsewhere = Object.entries(env).map(([name, value]) => [name, name.endsWith('_API_BASE') ? origin : value])
    const provider = await connect(t, Object.fromEntries(elsewhere), { timeoutMs: 10_000 })
    await t.rejects(provider.createIntent(intent), unavailable)
    await t.rejects(provider.retrieveIntent(refTo('pi_1')), unavailable)
    await t.rejects(provider.cancelIntent({ ...refTo('pi_1'), idempotency_key: 'k' }), unavailable)
    const provider_payment_id = { stripe: 'ch_1', paypal: 'C1' }[name] ?? '1'
    await t.rejects(provider.findPaymentId({ provider_intent_id: null, provider_payment_id }), unavailable)
    const method = { provider_method_id: '1', provider_customer_id: '1' }
    await t.rejects(provider.methods.detachMethod(method), unavailable)
    if (name !== 'authorize-net') await t.rejects(provider.catalog.putProduct(firstPut), unavailable)
  })
