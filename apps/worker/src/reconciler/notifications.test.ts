import { randomUUID } from 'node:crypto'
import { fails } from '@paylog/commands/testing/fakeSteps'
import { notificationFold } from '@paylog/domain/providerEvents'
import { newStream } from '@paylog/event-store/eventStore'
import { providerEventStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import { waitFor } from '@paylog/testing/waitFor'
import { eventSamples } from '@paylog/webhooks/testing/paymentFixture'
import t from 'tap'
import { createReconcilerHarness, fakeProvider } from '../testing/reconcilerHarness.ts'

const second = 1_000
const minute = 60 * second
const harness = await createReconcilerHarness(t)

/** Leaves a notification like a receiver that dies before it applies it. */
async function receive(provider: Provider, object: object, body?: string): Promise<string> {
  const provider_event_id = `evt_${randomUUID()}`
  const created = Math.round(harness.now().getTime() / second)
  const event = { id: provider_event_id, type: 'payment_intent.succeeded', created, data: { object } }
  const inbox = providerEventStream(provider.id, provider_event_id)
  const data = {
    ...eventSamples.ProviderEventReceived,
    provider_id: provider.id,
    provider_event_id,
    occurred_at: harness.now().toISOString(),
    body: body ?? JSON.stringify(event),
  }
  await harness.store.handle({
    stream: inbox,
    fold: notificationFold,
    decide: () => [{ type: 'ProviderEventReceived' as const, data }],
    metadata: { correlationId: 'request-1', causationId: inbox, actor: `provider:${provider.id}` },
    assumed: newStream(notificationFold),
  })
  return inbox
}
const paid = (intent: string) => ({ id: intent, amount: 2200, currency: 'usd', status: 'succeeded' })
const typesOf = async (inbox: string) => (await harness.store.readStream(inbox)).map(({ type }) => type)
const offTheList = (inbox: string) =>
  waitFor(async () => (await harness.entry(inbox)) === undefined, { what: 'the end of the follow-up' })

t.test('a received but unapplied notification is applied', async (t) => {
  const { provider } = fakeProvider(t)
  await harness.startWorker(t, provider)
  const id = await harness.open(provider)
  const inbox = await receive(provider, paid(await harness.intentOf(id)))
  const foreign = await receive(provider, paid('intent-of-others'))
  t.match(await harness.entry(inbox), { finish: Date, ask: null, watch: null })
  t.strictSame(await typesOf(inbox), ['ProviderEventReceived'], 'the receiver gets time to apply it itself')
  harness.forward(31 * second)
  await offTheList(inbox)
  await offTheList(foreign)
  t.strictSame(await typesOf(inbox), ['ProviderEventReceived', 'ProviderEventApplied'])
  t.strictSame(await typesOf(foreign), ['ProviderEventReceived', 'ProviderEventUnmatched'])
  t.equal((await harness.payment(id)).status, 'succeeded')
  const [first, last] = await harness.store.readStream(inbox)
  t.match(last?.metadata, { correlationId: 'request-1', causationId: first?.id, actor: 'worker' })
})

t.test('a notification that needs the provider is retried until the provider responds', async (t) => {
  let isDown = true
  let calls = 0
  const provider: Provider = {
    ...fakeProvider(t).provider,
    async completeNotification(notification) {
      calls++
      if (isDown) await fails('unavailable')('complete')
      return notification
    },
  }
  await harness.startWorker(t, provider)
  const inbox = await receive(provider, paid('intent-of-others'))
  await harness.entry(inbox)
  harness.forward(31 * second)
  const pauses = [12.5, 15.6, 19.5, 24.4]
  for (const [round, pause] of pauses.entries()) {
    await waitFor(() => calls === round + 1, { what: `try ${round + 1}` })
    const { finish } = await waitFor(
      async () => {
        const entry = await harness.entry(inbox)
        return entry?.lease === null && entry.pauses === round + 2 && entry
      },
      { what: `the end of try ${round + 1}` },
    )
    const fromNow = ((finish?.getTime() ?? 0) - harness.now().getTime()) / second
    t.ok(Math.abs(fromNow - pause) <= 2, `next try in ${fromNow} s, for ${pause}`)
    harness.forward(pause * second + (round === pauses.length - 1 ? 0 : second))
  }
  t.ok(harness.lines.some((line) => line.includes(inbox) && line.includes('a follow-up failed')))
  isDown = false
  harness.forward(4 * 24 * 60 * minute)
  await offTheList(inbox)
  t.strictSame(await typesOf(inbox), ['ProviderEventReceived', 'ProviderEventUnmatched'])
})

t.test('an unreadable notification is kept and does not delay others', async (t) => {
  const { provider } = fakeProvider(t)
  await harness.startWorker(t, provider)
  const broken = await receive(provider, {}, '{"half":')
  const inbox = await receive(provider, paid('intent-of-others'))
  await harness.entry(inbox)
  harness.forward(31 * second)
  await offTheList(inbox)
  await waitFor(async () => (await harness.entry(broken))?.pauses === 2, {
    what: 'the follow-up of the broken notification',
  })
  t.strictSame(await typesOf(broken), ['ProviderEventReceived'])
  t.notOk(
    harness.lines.some((line) => line.includes('half')),
    'its content is not logged',
  )
})

t.test('a stored notification whose body was erased is given up', async (t) => {
  const { provider } = fakeProvider(t)
  await harness.startWorker(t, provider)
  const inbox = await receive(provider, paid('intent-of-others'))
  const [received] = await harness.store.readStream(inbox)
  await harness.keys.destroy(received?.sealed.body ?? [])
  t.match(await harness.entry(inbox), { finish: Date })
  harness.forward(31 * second)
  await offTheList(inbox)
  t.strictSame(await typesOf(inbox), ['ProviderEventReceived'])
})
