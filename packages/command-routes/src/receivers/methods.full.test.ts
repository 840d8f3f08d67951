// Each provider's notifications about saved methods.

import { randomUUID } from 'node:crypto'
import { type PaymentMethod, paymentMethodFold } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { signSandboxEvent } from '@paylog/providers/sandbox/signature'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t, { type Test } from 'tap'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import {
  authorizeNetHarness,
  paypalHarness,
  receiverHarness,
  type SignedNotification,
} from '../testing/receiverHarness.ts'

type SentNotification = SignedNotification & { readonly id: string; readonly type: string }
type Ref = Pick<PaymentMethod, 'provider_method_id' | 'provider_customer_id'>

type ProviderHarness = {
  readonly receiver: Awaited<ReturnType<typeof receiverHarness>>
  /** A token from the provider's form. */
  token(): string
  /** The latest notification: about the method that we just attached or detached. */
  latest(method: Ref): SentNotification
  /** Changes the card to one that ends in 0005. Not every provider notifies it. */
  renew: ((method: Ref) => SentNotification) | null
  /** Detaches the method at the provider. */
  detach(method: Ref): SentNotification
}

const noNotification = (): never => {
  throw new Error('The provider sent no notification')
}

async function stripeHarness(t: Test): Promise<ProviderHarness> {
  const fake = await startFakeStripe(t)
  const env = fake.env
  const notified = (event = fake.events.at(-1)): SentNotification =>
    event ? { ...fake.signed(event), id: event.id, type: event.type } : noNotification()
  return {
    receiver: await receiverHarness(t, await providerFromEnv(t, env)),
    token: () => fake.addMethod().id,
    latest: () => notified(),
    renew: ({ provider_method_id: id }) => notified(fake.changeCard(id, { last4: '0005', exp_year: 2034 })[0]),
    detach: ({ provider_method_id: id }) => notified(fake.detachMethod(id)[0]),
  }
}

async function paypalMethods(t: Test): Promise<ProviderHarness> {
  const { fake, ...receiver } = await paypalHarness(t)
  const notified = (event = fake.events.at(-1)): SentNotification =>
    event ? { ...fake.signed(event), id: event.id, type: event.event_type } : noNotification()
  return {
    receiver,
    token: () => fake.vault.approveSetup({ card: { brand: 'VISA', last_digits: '4242', expiry: '2030-08' } }),
    latest: () => notified(),
    renew: null,
    detach: ({ provider_method_id: id }) => notified(fake.vault.remove(id)),
  }
}

async function authorizeNetMethods(t: Test): Promise<ProviderHarness> {
  const { fake, ...receiver } = await authorizeNetHarness(t)
  let cards = 1000
  const notified = (event = fake.events.at(-1)): SentNotification =>
    event ? { ...fake.signed(event), id: event.notificationId, type: event.eventType } : noNotification()
  return {
    receiver,
    token: () => fake.profiles.tokenise({ card: `card ${cards++}`, expirationDate: '2030-08', cardType: 'Visa' }),
    latest: () => notified(),
    renew: ({ provider_customer_id, provider_method_id }) =>
      notified(fake.profiles.changeMethod(provider_customer_id ?? '', provider_method_id, { card: 'card 0005' })),
    detach({ provider_customer_id, provider_method_id }) {
      fake.profiles.deleteMethod(provider_customer_id ?? '', provider_method_id)
      return notified()
    },
  }
}

/** A provider that cannot be queried: only its notifications count. */
async function sandboxHarness(t: Test): Promise<ProviderHarness> {
  const provider = createSandbox({ webhookSecrets: ['secret'] })
  let events = 0
  let cards = 0
  const notified =
    (what: string) =>
    ({ provider_method_id, provider_customer_id: customer }: Ref): SentNotification => {
      const id = `evt_${events++}`
      const type = `payment_method.${what}`
      const created = Math.floor(Date.now() / 1_000)
      const body = JSON.stringify({ id, type, created, data: { object: { id: provider_method_id, customer } } })
      const headers = {
        'content-type': 'application/json',
        'sandbox-signature': signSandboxEvent('secret', body, created),
      }
      return { id, type, body, headers }
    }
  return {
    receiver: await receiverHarness(t, provider),
    token: () => ['pm_card_visa', 'pm_card_mastercard', 'pm_card_amex'][cards++ % 3] ?? noNotification(),
    latest: notified('attached'),
    renew: null,
    detach: notified('detached'),
  }
}

const owner = { 'x-session-id': 'demo-session' }
const appliedTypes = ['ProviderEventReceived', 'ProviderEventAppliedToMethod']

function methodActions({ receiver, token }: ProviderHarness) {
  const { app, store, providers, send, inboxOf, typesOf } = receiver
  const loadMethod = async (id: string) => (await store.load(paymentMethodStream(id), paymentMethodFold)).state
  return {
    /** Saves a method as its owner. */
    async save(): Promise<PaymentMethod> {
      const payload = { payment_method_token: token(), alias: 'Mine' }
      const response = await app.inject({ method: 'POST', url: '/payment-methods', headers: owner, payload })
      const method = await loadMethod(response.json().data?.id ?? '')
      if (method.status !== 'saved') throw new Error(`not saved: ${response.body}`)
      return method
    },
    /** A method that another system saved at the same account. */
    async foreignMethod(): Promise<Ref> {
      const { methods } = [...providers.values()][0] ?? {}
      const user = { user_id: 'user-of-others', email: null, name: null }
      const provider_customer_id = (await methods?.createCustomer({ idempotency_key: randomUUID(), ...user })) ?? null
      const attachment = { idempotency_key: randomUUID(), token: token(), user_id: user.user_id, provider_customer_id }
      return (await methods?.attachMethod(attachment)) ?? noNotification()
    },
    loadMethod,
    remove: ({ payment_method_id: id }: PaymentMethod) =>
      app.inject({ method: 'DELETE', url: `/payment-methods/${id}`, headers: owner }),
    async receive(t: Test, notified: SentNotification, method: PaymentMethod): Promise<void> {
      t.same(await send(notified), [200, undefined], notified.type)
      const [received, applied, ...more] = await inboxOf(notified.id)
      t.match(received, { type: appliedTypes[0], data: { provider_type: notified.type } })
      t.match(applied, { type: appliedTypes[1], data: { payment_method_id: method.payment_method_id } })
      t.same(more, [])
    },
    /** The event types after PaymentMethodAdded. */
    historyOf: async ({ payment_method_id: id }: PaymentMethod) => (await typesOf(paymentMethodStream(id))).slice(1),
  }
}

const harnesses = {
  stripe: stripeHarness,
  paypal: paypalMethods,
  'authorize-net': authorizeNetMethods,
  sandbox: sandboxHarness,
}

for (const [name, createHarness] of Object.entries(harnesses))
  t.test(`the receiver of ${name} applies notifications about saved methods`, async (t) => {
    const harness = await createHarness(t)
    const { app, store, send, inboxOf } = harness.receiver
    const { save, foreignMethod, loadMethod, remove, receive, historyOf } = methodActions(harness)

    t.test(`${name}: notifications of our own changes have no effect`, async (t) => {
      const method = await save()
      await receive(t, harness.latest(method), method)
      t.same(await historyOf(method), [])
      t.equal((await remove(method)).statusCode, 200)
      const detached = name === 'sandbox' ? harness.detach(method) : harness.latest(method)
      t.match(detached.type, /detached$|deleted$/i)
      await receive(t, detached, method)
      t.same(await historyOf(method), ['PaymentMethodRemoved'])
      t.match((await store.readStream(paymentMethodStream(method.payment_method_id))).at(-1)?.data, { by: 'owner' })
    })

    t.test(`${name}: a payment with a saved method shows the method`, async (t) => {
      const { payment_method_id, last_four } = await save()
      const payload = { total_cents: 2599, currency: 'USD', payment_method_id }
      const paid = await app.inject({ method: 'POST', url: '/payments/intents', headers: owner, payload })
      t.equal(paid.statusCode, 201)
      t.match(paid.json().data, {
        // PayPal takes the money at once, so nothing is left for the payer to approve.
        client_secret: name === 'paypal' ? null : /./,
        payment_method: { id: payment_method_id, last_four, alias: 'Mine' },
      })
    })

    const { renew } = harness
    if (renew)
      t.test(`${name}: a renewed card is updated by a late notification too [6.1-methods]`, async (t) => {
        const method = await save()
        const attached = harness.latest(method)
        const renewed = renew(method)
        await receive(t, attached, method)
        t.match(await loadMethod(method.payment_method_id), { status: 'saved', last_four: '0005', alias: 'Mine' })
        await receive(t, renewed, method)
        t.same(await historyOf(method), ['PaymentMethodRefreshed'])
      })

    t.test(
      `${name}: a method detached at the provider is removed by repeated and reordered notifications [10.3-detached]`,
      async (t) => {
        const method = await save()
        const attached = harness.latest(method)
        const detached = harness.detach(method)
        for (const notified of [detached, attached, detached, attached]) await receive(t, notified, method)
        t.same(await historyOf(method), ['PaymentMethodRemoved'])
        t.match((await store.readStream(paymentMethodStream(method.payment_method_id))).at(-1)?.data, {
          by: 'provider',
        })
        t.equal((await remove(method)).statusCode, 404)
        const payload = { total_cents: 2599, currency: 'USD', payment_method_id: method.payment_method_id }
        const rejected = await app.inject({ method: 'POST', url: '/payments/intents', headers: owner, payload })
        t.match(rejected.json(), { error: { code: 'reference_not_found' } })
      },
    )

    t.test(`${name}: a notification about another system's method is unmatched`, async (t) => {
      const method = await foreignMethod()
      const attached = harness.latest(method)
      for (const notified of [attached, harness.detach(method)]) {
        t.same(await send(notified), [200, undefined])
        t.same(
          (await inboxOf(notified.id)).map(({ type }) => type),
          ['ProviderEventReceived', 'ProviderEventUnmatched'],
        )
      }
    })
  })
