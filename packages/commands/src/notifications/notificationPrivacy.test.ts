// Personal data in notifications that belong to no payment.
import { customerDeletionFold } from '@paylog/domain/providerCustomer'
import { customerDeletionStream, paymentStream, providerEventStream } from '@paylog/event-store/streamName'
import { ProviderError, type ProviderNotification } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import t, { type Test } from 'tap'
import type { Workflow } from '../context.ts'
import { notificationFixture, unsigned } from '../testing/notificationFixture.ts'
import { interleaved } from '../testing/savedMethodHarness.ts'
import { metadata, workflowHarness } from '../testing/workflowHarness.ts'
import { applyStoredNotification, receiveNotification } from './notifications.ts'

/** What only the provider knows. */
let known: Partial<ProviderNotification> = {}
let isUnreachable = false
const provider = unsigned({
  ...createSandbox({ webhookSecrets: ['secret'] }),
  async completeNotification(notification) {
    if (isUnreachable) throw new ProviderError('unavailable', 'unreachable', 'The provider cannot be reached')
    return { ...notification, ...known }
  },
})
const { workflow, store, keys, open } = await workflowHarness(t, provider)

/** Receives a notification about a customer. @returns its inbox */
async function receive(t: Test, about: Partial<ProviderNotification>) {
  const sent = notificationFixture(about)
  const body = Buffer.from(JSON.stringify(sent))
  const received = await receiveNotification(workflow, { provider, body, headers: {}, requestId: 'request' })
  t.equal(received.postponed, undefined)
  return providerEventStream(provider.id, sent.provider_event_id)
}

t.test(
  'a notification names the person whose data it holds by e-mail, also when only the provider knows it',
  async (t) => {
    const customer_email = 'Ada@example.com'
    known = { customer_email }
    for (const isNamed of [true, false]) {
      const about = { customer_id: 'cus_ada', generic_type: 'customer.updated' }
      const inbox = await receive(t, { ...about, customer_email: isNamed ? customer_email : null })
      const [received, unmatched] = await store.readStream(inbox)
      const [key] = await keys.named(['guest:ada@example.com'])
      t.match(received?.sealed.body, [key?.id, String], 'the customer and the day')
      t.match(unmatched, { data: { customer_email }, sealed: { personal: [key?.id] } })
    }
  },
)

t.test('a notification about a customer that we have deleted is recorded without personal data', async (t) => {
  known = {}
  const data = { provider_id: provider.id, user_id: 'u1', provider_customer_id: 'cus_gone' }
  await store.handle({
    stream: customerDeletionStream(provider.id, 'cus_gone'),
    fold: customerDeletionFold,
    decide: () => [
      { type: 'ProviderCustomerDeletionRequested', data: { ...data, occurred_at: new Date().toISOString() } },
    ],
    metadata,
  })
  const about = { generic_type: 'customer.deleted', customer_id: 'cus_gone', customer_email: 'ada@example.com' }
  const inbox = await receive(t, about)
  const [received, unmatched] = await store.readStream(inbox)
  t.match(received, { type: 'ProviderEventReceived', data: { body: null }, sealed: {} })
  t.match(unmatched, { type: 'ProviderEventUnmatched', data: { customer_id: 'cus_gone', customer_email: null } })
  const raw = await store.readRawPage(inbox, 0n, 10)
  t.notMatch(Buffer.concat(raw.events.map((event) => Buffer.from(event.data))).toString(), /ada@|sealed/)
})

const email = 'ada@example.com'
const guest = { payer: { id: null, type: 'guest', email }, guest_email: email }
const persons = {
  guest,
  user: { payer: { id: 'ada', type: 'user', email } },
  'user with a guest': { payer: { id: 'bob', type: 'user', email: null }, guest_email: email },
  'payer without a name': {},
}

/** Opens a payment. @returns it, how to erase the person, and a notification that it succeeded, with the person's e-mail */
async function paymentOf(person: (typeof persons)[keyof typeof persons]) {
  const payment = await open(person)
  const id = payment.payment_id
  const stream = paymentStream(id)
  const [initiated] = await store.readStream(stream)
  const { guest, personal } = initiated?.sealed ?? {}
  const ids = payment.payer.id === 'bob' ? guest?.slice(1) : personal?.slice(0, 1)
  const intent = payment.provider_intent_id
  const report = {
    ...({ about: 'status', status: 'succeeded', amount_cents: 2599, currency: 'EUR' } as const),
    ...{ provider_time: new Date().toISOString(), provider_event_id: null },
    ...{ provider_intent_id: intent, provider_payment_id: 'ch_1' },
  }
  return { id, stream, erase: () => keys.destroy(ids ?? []), about: { report, customer_email: email } }
}

async function send(about: Partial<ProviderNotification>, on: Workflow = workflow) {
  const sent = notificationFixture(about)
  const body = Buffer.from(JSON.stringify(sent))
  const { postponed } = await receiveNotification(on, { provider, body, headers: {}, requestId: 'request' })
  return { inbox: providerEventStream(provider.id, sent.provider_event_id), postponed }
}

for (const [name, person] of Object.entries(persons)) {
  t.test(`a late notification of a payment whose ${name} was erased has no body and makes no key`, async (t) => {
    known = {}
    for (const isNamed of [true, false]) {
      const { id, stream, erase, about } = await paymentOf(person)
      await erase()
      const { inbox } = await send({ ...about, referenced_payment_id: isNamed ? id : null })
      const late = (await store.readStream(stream)).slice(2)
      const stored = await store.readStream(inbox)
      t.match(late.at(-1), { type: 'PaymentSucceeded', data: { received_cents: 2599 } }, 'its facts are recorded')
      for (const { type, data, sealed } of [...late, ...stored]) {
        t.notMatch(JSON.stringify(data), email, type)
        t.same(sealed, {}, type)
      }
      t.equal(stored.length, isNamed ? 0 : 2)
    }
  })

  t.test(
    `a notification of a payment of a ${name} is erased with the person, when it is received meanwhile too`,
    async (t) => {
      known = {}
      const { id, stream, erase, about } = await paymentOf(person)
      await send({ ...about, referenced_payment_id: id })
      await send({ ...about, referenced_payment_id: id }, interleaved(workflow, stream, erase))
      const { inbox } = await send(about)
      const all = [...(await store.readStream(stream)), ...(await store.readStream(inbox))]
      t.equal(all.filter(({ type }) => type === 'ProviderNotificationReceived').length, 2)
      t.notMatch(JSON.stringify(all.map(({ data }) => data)), email)
    },
  )
}

t.test(
  'a notification that is stored while its provider cannot be asked loses its body once it is known',
  async (t) => {
    known = {}
    const { stream, erase, about } = await paymentOf(guest)
    await erase()
    isUnreachable = true
    const { inbox, postponed } = await send(about)
    t.match(postponed, { code: 'unreachable' })
    t.match(await store.readStream(inbox), [{ data: { body: email }, sealed: { body: [String, String] } }])
    isUnreachable = false
    await applyStoredNotification(workflow, inbox)
    t.match(await store.readStream(inbox), [{ data: { body: null } }, { type: 'ProviderEventApplied' }])
    t.match((await store.readStream(stream)).at(-1), { type: 'PaymentSucceeded' })
    const log = await Array.fromAsync(store.readLog({ prefixes: ['erasure-'] }))
    t.match(log, [{ type: 'SubjectErased', data: { key_ids: [String] } }])
  },
)

/** The workflow, in which nothing can be recorded in a stream. */
function withoutStream(stream: string): Workflow {
  const handle: typeof store.handle = (command) =>
    command.stream === stream ? Promise.reject(new Error('down')) : store.handle(command)
  return { ...workflow, store: { ...store, handle } }
}

t.test("an erased payer's stored notification that cannot be applied at first keeps its facts", async (t) => {
  known = {}
  const { stream, erase, about } = await paymentOf(guest)
  await erase()
  isUnreachable = true
  const { inbox } = await send(about)
  isUnreachable = false
  await t.rejects(applyStoredNotification(withoutStream(stream), inbox), { message: 'down' })
  await applyStoredNotification(workflow, inbox)
  t.match((await store.readStream(stream)).at(-1), { type: 'PaymentSucceeded', data: { received_cents: 2599 } })
  t.match(await store.readStream(inbox), [{ data: { body: null } }, { type: 'ProviderEventApplied' }])
})

t.test("an erased payer's stored notification that is sent again loses its body", async (t) => {
  known = {}
  const { erase, about } = await paymentOf(guest)
  await erase()
  const repeated = { ...about, provider_event_id: 'evt_again' }
  isUnreachable = true
  await send(repeated)
  isUnreachable = false
  const { inbox } = await send(repeated)
  t.match(await store.readStream(inbox), [{ data: { body: null } }, { type: 'ProviderEventApplied' }])
})

t.test(
  'an erased payer who pays again keeps the key that a stored notification of the first payment has',
  async (t) => {
    known = {}
    const { stream, erase, about } = await paymentOf(guest)
    await erase()
    const again = await paymentOf(guest)
    const [initiated] = await store.readStream(again.stream)
    isUnreachable = true
    const { inbox } = await send({ ...about, report: null })
    isUnreachable = false
    known = { report: about.report }
    const [received] = await store.readStream(inbox)
    await applyStoredNotification(workflow, inbox)
    t.match((await store.readStream(stream)).at(-1), { type: 'PaymentSucceeded' })
    t.equal(received?.sealed.body?.[0], initiated?.sealed.personal?.[0])
    t.match(await store.readStream(again.stream), [{ data: { guest_email: email } }])
  },
)
