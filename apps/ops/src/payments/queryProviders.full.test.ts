// Payments are checked a few at a time, in order, and no longer after repeated failures.
import { setImmediate as tick } from 'node:timers/promises'
import type { Workflow } from '@paylog/commands/context'
import { type IntentRef, type IntentSnapshot, type Provider, ProviderError } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import t from 'tap'
import { paymentsHarness } from '../testing/paymentsHarness.ts'
import { queryProviders, type ReconcileResult } from './queryProviders.ts'

const log = await paymentsHarness(t)
const metadata = { correlationId: 'c', causationId: 'c', actor: 'operator' }
const options = { metadata, signal: new AbortController().signal, pausesMs: [1, 1] }

/** A provider whose responses come from the test. */
function providerWith(id: string, retrieveIntent: (ref: IntentRef) => Promise<IntentSnapshot | null>): Provider {
  return { ...createSandbox({ webhookSecrets: [] }), id, retrieveIntent }
}

function pendingIntent({ provider_intent_id }: IntentRef): IntentSnapshot {
  const unset = { provider_event_id: null, provider_payment_id: null, amount_cents: null, currency: null }
  const provider_time = new Date().toISOString()
  return {
    report: { status: 'pending', provider_intent_id, provider_time, ...unset },
    further_charges: [],
    awaits_capture: false,
  }
}

const workflow = (...providers: Provider[]): Workflow => ({
  store: log.store,
  providers: new Map(providers.map((provider) => [provider.id, provider])),
  now: () => new Date(),
})

const check = (payments: ReadonlyMap<string, string>, ...providers: Provider[]) =>
  Array.fromAsync(queryProviders(workflow(...providers), payments, options))
const findingsOf = (results: readonly ReconcileResult[]) => results.map(({ finding }) => finding)

/** Payments with intents, alternating between the providers. */
async function record(count: number, ...providers: string[]): Promise<Map<string, string>> {
  const payments = new Map<string, string>()
  for (let number = 0; number < count; number++) {
    const provider = providers[number % providers.length] ?? ''
    payments.set(await log.record(provider, `intent-${number}`), provider)
  }
  return payments
}

t.test('eight payments are checked at a time, and results come in order', async (t) => {
  let underWay = 0
  let most = 0
  const released = Array.from({ length: 8 }, () => Promise.withResolvers<void>())
  const provider = providerWith('stripe', async (ref) => {
    most = Math.max(most, ++underWay)
    if (most === 8) released.at(-1)?.resolve()
    // The first eight wait for each other and get their responses in reverse order.
    const number = Number(ref.provider_intent_id.slice('intent-'.length))
    await released[number]?.promise
    released[number - 1]?.resolve()
    underWay--
    return pendingIntent(ref)
  })
  const payments = await record(30, 'stripe')
  const responses = await check(payments, provider)
  t.match(
    responses,
    [...payments.keys()].map((payment_id) => ({ payment_id, finding: 'same' })),
  )
  t.equal(most, 8)
})

t.test('a provider that does not respond is skipped after a while, and the others are still queried', async (t) => {
  for (const kind of ['unavailable', 'unknown'] as const) {
    let silent = 0
    let callCount = 0
    const down = providerWith('paypal', async () => {
      silent++
      throw new ProviderError(kind, 'no_response', 'No response')
    })
    const up = providerWith('stripe', async (ref) => {
      callCount++
      return pendingIntent(ref)
    })
    const payments = await record(120, 'paypal', 'stripe')
    const responses = await check(payments, down, up)
    t.equal(callCount, 60)
    const tries = kind === 'unavailable' ? 3 : 1
    t.ok(silent >= 24 * tries && silent < 32 * tries, `called ${silent} times`)
    const withoutResponse = responses.filter(({ provider_id }) => provider_id === 'paypal')
    t.ok(withoutResponse.every(({ problem }) => problem === 'no_response'))
    const skipped = withoutResponse.filter(({ reconciliation }) => reconciliation === undefined)
    t.equal(skipped.length, 60 - silent / tries)
    t.ok(skipped.every(({ finding }) => finding === 'unreachable'))
  }
})

t.test('a provider that rejects connections for a moment is retried', async (t) => {
  const tries = new Map<string, number>()
  const provider = providerWith('stripe', async (ref) => {
    const nth = (tries.get(ref.payment_id) ?? 0) + 1
    tries.set(ref.payment_id, nth)
    if (nth < 3) throw new ProviderError('unavailable', 'http_429', 'Busy')
    return pendingIntent(ref)
  })
  const payments = await record(40, 'stripe')
  const responses = await check(payments, provider)
  t.same(findingsOf(responses), Array(40).fill('same'))
})

t.test('a provider that fails now and then is not skipped', async (t) => {
  let callCount = 0
  const provider = providerWith('stripe', async (ref) => {
    callCount++
    if (!ref.provider_intent_id.endsWith('9')) throw new ProviderError('unavailable', 'http_429', 'Busy')
    return pendingIntent(ref)
  })
  const payments = await record(60, 'stripe')
  const responses = await check(payments, provider)
  t.equal(callCount, 54 * 3 + 6)
  t.equal(responses.filter(({ finding }) => finding === 'same').length, 6)
})

t.test('a provider that is not enabled is not retried', async (t) => {
  const payments = await record(1, 'elsewhere')
  const hours = { ...options, pausesMs: [3_600_000] }
  t.match(await Array.fromAsync(queryProviders(workflow(), payments, hours)), [
    { finding: 'unreachable', problem: 'provider_not_enabled' },
  ])
})

t.test('an abort ends the retries of an unreachable provider', async (t) => {
  const stop = new AbortController()
  let callCount = 0
  const provider = providerWith('stripe', async () => {
    // Long after the response was classified.
    if (++callCount === 8) setTimeout(() => stop.abort(), 300)
    throw new ProviderError('unavailable', 'http_429', 'Busy')
  })
  const payments = await record(20, 'stripe')
  const hours = { metadata, signal: stop.signal, pausesMs: [3_600_000, 3_600_000] }
  const responses = await Array.fromAsync(queryProviders(workflow(provider), payments, hours))
  t.same(findingsOf(responses), Array(8).fill('unreachable'))
  t.equal(callCount, 8)
})

t.test('an unknown outcome without a problem does not count as a failed response', async (t) => {
  let called = 0
  const provider: Provider = {
    ...providerWith('stripe', async (ref) => pendingIntent(ref)),
    async createIntent() {
      called++
      throw new ProviderError('unknown', 'http_500', 'Broken')
    },
  }
  const payments = new Map<string, string>()
  for (let number = 0; number < 40; number++) payments.set(await log.initiate('stripe'), 'stripe')
  const responses = await check(payments, provider)
  t.equal(responses.length, 40)
  t.ok(responses.every(({ finding, problem }) => finding === 'unknown' && problem === undefined))
  t.equal(called, 40)
})

t.test('a stateless provider is not reported as agreeing, and its open calls are finished', async (t) => {
  const payments = await record(2, 'sandbox')
  payments.set(await log.initiate('sandbox'), 'sandbox')
  const provider = createSandbox({ webhookSecrets: [] })
  const responses = await check(payments, provider)
  t.same(findingsOf(responses), ['stateless', 'stateless', 'late'])
})

t.test('a payment that keeps changing concurrently does not end the run', async (t) => {
  const [busy, calm] = [...(await record(2, 'stripe')).keys()]
  const provider = providerWith('stripe', async (ref) => {
    if (ref.payment_id === busy) await log.notify(ref.payment_id, 'pending')
    return pendingIntent(ref)
  })
  const payments = new Map([busy, calm].map((id) => [id ?? '', 'stripe']))
  const responses = await check(payments, provider)
  t.match(responses, [{ finding: 'unknown', problem: 'concurrent_modification' }, { finding: 'same' }])
})

t.test('a bug ends the run after the calls under way', async (t) => {
  let ended = 0
  const thrown = Promise.withResolvers<void>()
  const provider = providerWith('stripe', async (ref) => {
    if (ref.provider_intent_id === 'intent-3') {
      thrown.resolve()
      throw new TypeError('on purpose')
    }
    await thrown.promise
    for (let turn = 0; turn < 20; turn++) await tick()
    ended++
    return pendingIntent(ref)
  })
  const payments = await record(8, 'stripe')
  const responses: ReconcileResult[] = []
  const run = async () => {
    for await (const response of queryProviders(workflow(provider), payments, options)) responses.push(response)
  }
  await t.rejects(run(), TypeError)
  t.equal(responses.length, 3, 'the results before it are returned')
  t.equal(ended, 7)
})
