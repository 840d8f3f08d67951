// The judge's rules for webhooks: exactly the canonical ones of each payment, and the raw ones of each notification.
import { decidingIntent, expectedStatus } from './expectedStatus.ts'
import type { Intent, Notification, Observations, Payment, Violation, Webhook } from './observations.ts'

type Bounds = { readonly least: number; readonly most: number }

export function judgeWebhooks(observations: Observations): Violation[] {
  const { webhooks, payments, intents, notifications } = observations
  const unsigned = webhooks.filter(({ is_signed }) => !is_signed)
  const canonical = webhooks.filter(({ mode }) => mode === 'canonical')
  const raw = webhooks.filter(({ mode }) => mode === 'raw')
  return [
    ...unsigned.map(({ webhook_id, event }) => ({ rule: 'wrong signature', story: `${event} ${webhook_id}` })),
    ...judgeCanonical(canonical, payments, intents),
    ...judgeRaw(raw, notifications),
    ...judgeIds(webhooks),
  ]
}

function judgeCanonical(
  webhooks: readonly Webhook[],
  payments: ReadonlyMap<string, Payment>,
  intents: readonly Intent[],
): Violation[] {
  const received = Map.groupBy(webhooks, ({ payment_id }) => payment_id)
  const own = Map.groupBy(
    intents.filter(({ is_foreign }) => !is_foreign),
    ({ payment_id }) => payment_id,
  )
  const foreign = new Map(intents.filter(({ is_foreign }) => is_foreign).map((intent) => [intent.id, intent]))
  const found = [...payments.values()].flatMap((payment) => {
    const expected = new Map(expectedWebhooks(decidingIntent(payment, own.get(payment.id) ?? [])))
    // Each intent of another system that names the payment may be reported once.
    const most = [...foreign.values()].filter(({ payment_id }) => payment_id === payment.id).length
    expected.set('payment.attention null', { least: 0, most })
    return judgeSubject(payment.id, { webhooks: received.get(payment.id) ?? [], expected, amount: payment.total_cents })
  })
  for (const [id, about] of received) {
    if (id !== null && payments.has(id)) continue
    const intent = id === null ? undefined : foreign.get(id)
    if (intent === undefined) {
      const events = [...new Set(about.map(({ event }) => event))].join(', ')
      found.push({ rule: 'webhook about an unknown payment', story: `${events} about ${id}` })
    }
  }
  for (const intent of foreign.values()) {
    // An intent that names a payment id may be left out; one without is reported by the provider's id.
    const isRequired = intent.payment_id === null
    const expected = new Map(
      [...expectedWebhooks(intent)].map(([name, { least, most }]) => [name, { least: isRequired ? least : 0, most }]),
    )
    found.push(
      ...judgeSubject(intent.id, { webhooks: received.get(intent.id) ?? [], expected, amount: intent.amount_cents }),
    )
  }
  return found
}

/** The canonical webhooks by event and status. A failure before a success may arrive too late to be reported. */
function expectedWebhooks(intent: Intent | undefined): ReadonlyMap<string, Bounds> {
  const expected = new Map<string, Bounds>([['payment.created pending', { least: 1, most: 1 }]])
  const status = expectedStatus(intent)
  const failures = intent?.failures ?? 0
  if (status === 'succeeded') expected.set('payment.succeeded succeeded', { least: 1, most: 1 })
  if (status === 'canceled') expected.set('payment.failed canceled', { least: 1, most: 1 })
  if (failures > 0) expected.set('payment.failed failed', { least: status === 'failed' ? 1 : 0, most: failures })
  return expected
}

function judgeSubject(
  id: string,
  {
    webhooks,
    expected,
    amount,
  }: {
    readonly webhooks: readonly Webhook[]
    readonly expected: ReadonlyMap<string, Bounds>
    readonly amount: number
  },
): Violation[] {
  const found: Violation[] = []
  const received = Map.groupBy(webhooks, ({ event, status }) => `${event} ${status}`)
  for (const [name, { least, most }] of expected) {
    const ids = new Set((received.get(name) ?? []).map(({ webhook_id }) => webhook_id))
    if (ids.size < least) found.push({ rule: 'webhook missing', story: `${name} about ${id}` })
    if (ids.size > most)
      found.push({ rule: 'webhook with several ids', story: `${name} about ${id} has ${[...ids].join(' and ')}` })
  }
  for (const [name] of received)
    if (!expected.has(name)) found.push({ rule: 'webhook contradicts the books', story: `${name} about ${id}` })
  const wrong = webhooks.find(({ amount_cents }) => amount_cents !== amount)
  if (wrong !== undefined)
    found.push({
      rule: 'wrong amount',
      story: `${wrong.event} about ${id} says ${wrong.amount_cents} instead of ${amount}`,
    })
  return found
}

function judgeRaw(webhooks: readonly Webhook[], notifications: readonly Notification[]): Violation[] {
  const received = Map.groupBy(webhooks, ({ notification_id }) => notification_id)
  const known = new Set(notifications.map(({ id }) => id))
  const found: Violation[] = []
  for (const { id, type, provider, accepted, sent } of notifications) {
    const name = `${provider}:${type}`
    const copies = received.get(id) ?? []
    const ids = new Set(copies.map(({ webhook_id }) => webhook_id))
    if (accepted === 0)
      found.push({ rule: 'notification not accepted', story: `${name} ${id} was sent ${sent} times without a 2xx` })
    else if (ids.size === 0) found.push({ rule: 'webhook missing', story: `raw ${name} ${id}` })
    if (ids.size > 1)
      found.push({ rule: 'webhook with several ids', story: `raw ${name} ${id} has ${[...ids].join(' and ')}` })
    const misnamed = copies.find(({ event }) => event !== name)
    if (misnamed !== undefined)
      found.push({ rule: 'raw webhook misnamed', story: `${misnamed.event} carries ${id}, which is ${name}` })
  }
  for (const id of received.keys())
    if (id === null || !known.has(id)) found.push({ rule: 'raw webhook of no notification', story: String(id) })
  return found
}

/** One id must always stand for the same webhook. */
function judgeIds(webhooks: readonly Webhook[]): Violation[] {
  const found: Violation[] = []
  for (const [id, copies] of Map.groupBy(webhooks, ({ webhook_id }) => webhook_id)) {
    const contents = new Set(
      copies.map(({ event, status, payment_id, notification_id }) =>
        [event, status, payment_id, notification_id].filter((part) => part !== null).join(' '),
      ),
    )
    if (contents.size > 1)
      found.push({ rule: 'one webhook id for two webhooks', story: `${id}: ${[...contents].join(' and ')}` })
  }
  return found
}
