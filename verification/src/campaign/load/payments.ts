// What clients do with payments: create them, wait until they are paid, read, refund, capture and cancel them.
import { setTimeout as pause } from 'node:timers/promises'
import type { Owner, ProviderName } from '../judge/observations.ts'
import type { Random } from '../random.ts'
import type { Client, Resource, Success } from './client.ts'
import { canaryOf, guestEmail } from './owners.ts'
import * as settings from './settings.ts'

export type NewPayment = {
  readonly name: string
  readonly owner: Owner
  readonly provider: ProviderName
  readonly amount_cents: number
  readonly currency: string
  readonly isManual: boolean
}

/** What activities need; `opened` resolves when new operations may begin. */
export type Activity = { readonly client: Client; readonly random: Random; readonly opened: () => Promise<void> }

type PaymentActivity = Activity & {
  /** Gets each success, repetitions included. */
  readonly onAcknowledged: (payment: NewPayment, resource: Resource) => void
}

const statusPolls = 16
const statusPollMs = 400

/** @returns a function that makes one payment, and does what follows from it */
export function createPaymentActivity(activity: PaymentActivity): () => Promise<void> {
  const { random, opened } = activity
  let count = 0
  return async () => {
    const payment = newPayment(random, ++count)
    const success = await create(activity, payment)
    if (!success) return
    const { id } = success.data
    const plan = random.weighted(settings.afterPayment)
    if (plan === 'read') await read(activity, payment, success)
    if (plan === 'cancel' && payment.provider !== 'sandbox') {
      await pause(random.between(0, 3_000))
      await opened()
      await change(activity, payment, id, { action: 'cancel' })()
    } else if (payment.isManual) await capture(activity, payment, id)
    if (plan === 'refresh') await change(activity, payment, id, { action: 'refresh' })()
    if (plan === 'refund') await refund(activity, payment, id)
  }
}

/** @returns a function that makes a payment of user 1 at the sandbox, and returns its id */
export function createProbe({ client, onAcknowledged }: PaymentActivity): () => Promise<string | undefined> {
  let count = 0
  return async () => {
    const name = `${canaryOf('user 1')}-probe-${++count}`
    const about = { name, owner: 'user 1', provider: 'sandbox', amount_cents: 100, currency: 'EUR' } as const
    const operation = client.operation({ action: 'create payment', key: `key-${name}`, subject: null, ...about })
    const payment = { ...about, isManual: false }
    const success = await client.perform(operation, {
      method: 'POST',
      path: '/payments/intents',
      body: bodyOf(payment),
    })
    if (success) onAcknowledged(payment, success.data)
    return success?.data.id
  }
}

function newPayment(random: Random, number: number): NewPayment {
  const [owner, provider] = [random.weighted(settings.owner), random.weighted(settings.provider)]
  return {
    name: `${canaryOf(owner)}-order-${number}`,
    owner,
    provider,
    amount_cents: random.between(100, 9_999),
    currency: provider === 'authorize-net' ? 'USD' : random.pick(['EUR', 'USD']),
    isManual: provider !== 'sandbox' && random.isIn(settings.manualCaptureShare),
  }
}

function bodyOf({ name, owner, provider, amount_cents, currency, isManual }: NewPayment): object {
  const email = owner === 'guest' ? guestEmail : `${name}@example.com`
  const isGuest = owner === 'guest' || owner === 'anonymous'
  return {
    ...{ total_cents: amount_cents, currency, provider_id: provider, reference_code: name },
    description: `Order of ${canaryOf(owner)}`,
    metadata: { order: name },
    ...(isManual && { capture_method: 'manual' }),
    ...(isGuest && { guest_data: { email, name: `${canaryOf(owner)} Example` } }),
  }
}

async function create(activity: PaymentActivity, payment: NewPayment): Promise<Success | undefined> {
  const { client, random, opened, onAcknowledged } = activity
  const { isManual: _, ...about } = payment
  const key = random.isIn(settings.keyedShare) ? `key-${payment.name}` : null
  const operation = client.operation({ action: 'create payment', key, subject: null, ...about })
  const send = async () => {
    const success = await client.perform(operation, {
      method: 'POST',
      path: '/payments/intents',
      body: bodyOf(payment),
    })
    if (success) onAcknowledged(payment, success.data)
    return success
  }
  const isTwice = key !== null && random.isIn(settings.doubledShare)
  const [success] = await Promise.all([send(), isTwice ? send() : undefined])
  if (key !== null && random.isIn(settings.repeatedShare)) {
    await pause(random.between(500, 5_000))
    await opened()
    await send()
  }
  return success
}

/** Waits for a status that the payer brings about. @returns the payment, unless it takes too long */
async function whenIs(
  { client, opened }: Activity,
  payment: NewPayment,
  id: string,
  status: string,
): Promise<Resource | undefined> {
  const isAnonymous = payment.owner === 'anonymous'
  for (let polls = 0; polls < statusPolls; polls++) {
    await opened()
    const found = isAnonymous
      ? await client.read('administrator', `/admin/payments/${id}`)
      : await client.read(payment.owner, `/payments/${id}`)
    if (found?.status === status) return found
    await pause(statusPollMs)
  }
  return undefined
}

/** @returns a function that sends the request */
function change(
  { client }: Activity,
  { name, owner, provider, currency }: NewPayment,
  id: string,
  how: {
    readonly action: 'refund' | 'capture' | 'cancel' | 'refresh'
    readonly number?: number
    readonly amount_cents?: number | null
    readonly key?: string | null
  },
) {
  const { action, number = 1, amount_cents = null, key = null } = how
  const isOwners = (action === 'cancel' || action === 'refresh') && owner !== 'anonymous'
  const operation = client.operation({
    ...{ action, owner: isOwners ? owner : 'administrator', name: `${action} ${number} of ${name}` },
    ...{ key, subject: id, provider, amount_cents, currency },
  })
  const path = `/payments/${id}/${action === 'refund' ? 'refunds' : action}`
  const body = amount_cents === null ? {} : { amount_cents }
  return () => client.perform(operation, { method: 'POST', path, body })
}

async function refund(activity: Activity, payment: NewPayment, id: string): Promise<void> {
  const paid = await whenIs(activity, payment, id, 'succeeded')
  if (!paid) return
  const { random } = activity
  const received = paid.amount_received_cents
  const part = Math.ceil(received / random.between(2, 5))
  const plan = random.weighted(settings.refund)
  const refundOf = (number: number, amount_cents: number | null) => {
    const isKeyed = plan === 'sameKeyTwice' || random.isIn(settings.keyedShare)
    const key = isKeyed ? `refund-${number}-${payment.name}` : null
    return change(activity, payment, id, { action: 'refund', number, amount_cents, key })
  }
  const send = refundOf(1, plan === 'all' ? null : part)
  const sendAnother = plan === 'twoParts' ? refundOf(2, received - part) : send
  // Of one cent there is no second part.
  const isTwice = plan === 'sameKeyTwice' || (plan === 'twoParts' && part < received)
  await Promise.all([send(), isTwice ? sendAnother() : undefined])
}

async function capture(activity: Activity, payment: NewPayment, id: string): Promise<void> {
  const authorized = await whenIs(activity, payment, id, 'processing')
  if (!authorized) return
  const part = activity.random.between(1, authorized.amount_capturable_cents)
  const amount_cents = activity.random.isIn(0.5) ? null : part
  await change(activity, payment, id, { action: 'capture', amount_cents })()
}

async function read({ client, random }: Activity, { owner, name }: NewPayment, { data, position }: Success) {
  if (position === null || owner === 'anonymous') return
  const path = random.pick([`/payments/${data.id}`, `/payments?search=${data.id}`])
  await client.readAfter(owner, path, { position, expected: name })
}
