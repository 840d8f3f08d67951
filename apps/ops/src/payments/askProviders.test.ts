// How many payments are asked about: a few at a time, in order, and no further when nobody answers.
import { setImmediate as tick } from 'node:timers/promises'
import { type IntentRef, type IntentSnapshot, type Provider, ProviderError } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { waitFor } from '@paylog/testing/waitFor'
import type { Workflow } from '@paylog/workflows/context'
import t from 'tap'
import { paymentsHarness } from '../testing/paymentsHarness.ts'
import { askProviders, type ReconcileResult } from './askProviders.ts'

const log = await paymentsHarness(t)
const metadata = { correlationId: 'c', causationId: 'c', actor: 'operator' }
const options = { metadata, signal: new AbortController().signal, pausesMs: [1, 1] }

/** A provider whose answers a test gives. */
function providerWith(id: string, retrieveIntent: (ref: IntentRef) => Promise<IntentSnapshot | null>): Provider {
  return { ...createSandbox({ webhookSecrets: [] }), id, retrieveIntent }
}

function pendingIntent({ provider_intent_id }: IntentRef): IntentSnapshot {
  const said = { provider_event_id: null, provider_payment_id: null, amount_cents: null, currency: null }
  const provider_time = new Date().toISOString()
  return {
    evidence: { status: 'pending', provider_intent_id, provider_time, ...said },
    further_charges: [],
    awaits_capture: false,
  }
}

const workflow = (...providers: Provider[]): Workflow => ({
  store: log.store,
  providers: new Map(providers.map((provider) => [provider.id, provider])),
  now: () => new Date(),
})

/** Payments with intents, taking turns between the providers. */
async function record(count: number, ...providers: string[]): Promise<Map<string, string>> {
  const payments = new Map<string, string>()
  for (let number = 0; number < count; number++) {
    const provider = providers[number % providers.length] ?? ''
    payments.set(await log.record(provider, `intent-${number}`), provider)
  }
  return payments
}

async function resultsOf(asking: AsyncGenerator<ReconcileResult>): Promise<ReconcileResult[]> {
  const answers: ReconcileResult[] = []
  for await (const answer of asking) answers.push(answer)
  return answers
}

t.test('eight are asked about at a time, and answers come in order', async (t) => {
  let underWay = 0
  let most = 0
  const released = Array.from({ length: 8 }, () => Promise.withResolvers<void>())
  const provider = providerWith('stripe', async (ref) => {
    most = Math.max(most, ++underWay)
    if (most === 8) released.at(-1)?.resolve()
    // The first eight wait for each other, and are answered from the last one to the first.
    const number = Number(ref.provider_intent_id.slice('intent-'.length))
    await released[number]?.promise
    released[number - 1]?.resolve()
    underWay--
    return pendingIntent(ref)
  })
  const payments = await record(30, 'stripe')
  const answers = await resultsOf(askProviders(workflow(provider), payments, options))
  t.same(
    answers.map(({ payment_id }) => payment_id),
    [...payments.keys()],
  )
  t.ok(answers.every(({ finding }) => finding === 'same'))
  t.equal(most, 8)
})

t.test('a provider that does not answer is left alone after a while, the others are asked on', async (t) => {
  for (const kind of ['unavailable', 'unknown'] as const) {
    let silent = 0
    let asked = 0
    const down = providerWith('paypal', async () => {
      silent++
      throw new ProviderError(kind, 'no_answer', 'No answer')
    })
    const up = providerWith('stripe', async (ref) => {
      asked++
      return pendingIntent(ref)
    })
    const payments = await record(120, 'paypal', 'stripe')
    const answers = await resultsOf(askProviders(workflow(down, up), payments, options))
    t.equal(asked, 60)
    const tries = kind === 'unavailable' ? 3 : 1
    t.ok(silent >= 24 * tries && silent < 32 * tries, `asked ${silent} times`)
    const unanswered = answers.filter(({ provider_id }) => provider_id === 'paypal')
    t.ok(unanswered.every(({ problem }) => problem === 'no_answer'))
    const skipped = unanswered.filter(({ reconciliation }) => reconciliation === undefined)
    t.equal(skipped.length, 60 - silent / tries)
    t.ok(skipped.every(({ finding }) => finding === 'unreachable'))
  }
})

t.test('a provider that takes no more for the moment is asked again', async (t) => {
  const tries = new Map<string, number>()
  const provider = providerWith('stripe', async (ref) => {
    const nth = (tries.get(ref.payment_id) ?? 0) + 1
    tries.set(ref.payment_id, nth)
    if (nth < 3) throw new ProviderError('unavailable', 'http_429', 'Busy')
    return pendingIntent(ref)
  })
  const payments = await record(40, 'stripe')
  const answers = await resultsOf(askProviders(workflow(provider), payments, options))
  t.equal(answers.length, 40)
  t.ok(answers.every(({ finding }) => finding === 'same'))
})

t.test('a provider that fails now and then is asked on', async (t) => {
  let asked = 0
  const provider = providerWith('stripe', async (ref) => {
    asked++
    if (!ref.provider_intent_id.endsWith('9')) throw new ProviderError('unavailable', 'http_429', 'Busy')
    return pendingIntent(ref)
  })
  const payments = await record(60, 'stripe')
  const answers = await resultsOf(askProviders(workflow(provider), payments, options))
  t.equal(asked, 54 * 3 + 6)
  t.equal(answers.filter(({ finding }) => finding === 'same').length, 6)
})

t.test('a provider that is not enabled is not waited for', async (t) => {
  const payments = await record(1, 'elsewhere')
  const hours = { ...options, pausesMs: [3_600_000] }
  t.match(await resultsOf(askProviders(workflow(), payments, hours)), [
    { finding: 'unreachable', problem: 'provider_not_enabled' },
  ])
})

t.test('whoever stops it need not wait for a provider that takes no more', async (t) => {
  const stop = new AbortController()
  let asked = 0
  const provider = providerWith('stripe', async () => {
    // Long after the answer was taken for what it is.
    if (++asked === 8) setTimeout(() => stop.abort(), 300)
    throw new ProviderError('unavailable', 'http_429', 'Busy')
  })
  const payments = await record(20, 'stripe')
  const hours = { metadata, signal: stop.signal, pausesMs: [3_600_000, 3_600_000] }
  const answers = await resultsOf(askProviders(workflow(provider), payments, hours))
  t.same(
    answers.map(({ finding }) => finding),
    Array(8).fill('unreachable'),
  )
  t.equal(asked, 8)
})

t.test('an outcome that the provider does not know either is an answer', async (t) => {
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
  const answers = await resultsOf(askProviders(workflow(provider), payments, options))
  t.equal(answers.length, 40)
  t.ok(answers.every(({ finding, problem }) => finding === 'unknown' && problem === undefined))
  t.equal(called, 40)
})

t.test('a provider without a memory is not said to agree, but its open calls are finished', async (t) => {
  const payments = await record(2, 'sandbox')
  payments.set(await log.initiate('sandbox'), 'sandbox')
  const provider = createSandbox({ webhookSecrets: [] })
  const answers = await resultsOf(askProviders(workflow(provider), payments, options))
  t.same(
    answers.map(({ finding }) => finding),
    ['stateless', 'stateless', 'late'],
  )
})

t.test('a payment that others change all the time does not end the run', async (t) => {
  const [busy, calm] = [...(await record(2, 'stripe')).keys()]
  const provider = providerWith('stripe', async (ref) => {
    if (ref.payment_id === busy) await log.notify(ref.payment_id, 'pending')
    return pendingIntent(ref)
  })
  const payments = new Map([busy, calm].map((id) => [id ?? '', 'stripe']))
  const answers = await resultsOf(askProviders(workflow(provider), payments, options))
  t.match(answers, [{ finding: 'unknown', problem: 'concurrent_modification' }, { finding: 'same' }])
})

t.test('whoever stops it gets the answers to what was asked, and no further question is asked', async (t) => {
  const stop = new AbortController()
  const released = Promise.withResolvers<void>()
  let asked = 0
  const provider = providerWith('stripe', async (ref) => {
    asked++
    await released.promise
    return pendingIntent(ref)
  })
  const payments = await record(30, 'stripe')
  const answers = resultsOf(askProviders(workflow(provider), payments, { ...options, signal: stop.signal }))
  await waitFor(() => asked === 8, { what: 'the first questions' })
  stop.abort()
  released.resolve()
  t.same(
    (await answers).map(({ payment_id }) => payment_id),
    [...payments.keys()].slice(0, 8),
  )
  t.equal(asked, 8)
})

t.test('a mistake ends the run when the questions that are under way have been answered', async (t) => {
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
  const answers: ReconcileResult[] = []
  const run = async () => {
    for await (const answer of askProviders(workflow(provider), payments, options)) answers.push(answer)
  }
  await t.rejects(run(), TypeError)
  t.equal(answers.length, 3, 'those before it are told')
  t.equal(ended, 7)
})
