// The judge's rules for webhooks: each endpoint gets exactly what is due to it, signed with its secret, and nothing else.
import { canonicalOf } from '../../canonicalOf.ts'
import type { Endpoint, Notification, Observations, Violation, Webhook } from './observations.ts'
import type { LoggedPayment } from './paymentsInLog.ts'

/** A webhook that has to be sent, or may be sent, with as many ids. */
type Due = {
  readonly subject: string
  readonly event: string
  readonly content: string
  readonly amount: number | null
  least: number
  most: number
}

export function judgeWebhooks(observations: Observations, logged: ReadonlyMap<string, LoggedPayment>): Violation[] {
  const { webhooks, endpoints } = observations
  const received = Map.groupBy(webhooks, ({ endpoint }) => endpoint)
  const canonical = dueCanonical(observations, logged)
  return [
    ...webhooks
      .filter(({ is_signed }) => !is_signed)
      .map(({ webhook_id, event, endpoint }) => ({
        rule: 'wrong signature',
        story: `${event} ${webhook_id} at endpoint ${endpoint}`,
      })),
    ...endpoints.flatMap((endpoint) => {
      const own = received.get(endpoint.name) ?? []
      return [
        ...judgeEndpoint(endpoint, own),
        ...(endpoint.mode === 'canonical'
          ? judgeCanonical(endpoint, own, canonical, observations)
          : judgeRaw(endpoint, own, observations)),
      ]
    }),
    ...observations.notifications.flatMap(judgeNotification),
    ...judgeIds(webhooks),
  ]
}

function judgeNotification({ provider, type, id, kind, sent, accepted }: Notification): Violation[] {
  const name = `${provider}:${type} ${id}`
  if (kind === 'sent' && accepted === 0)
    return [{ rule: 'notification not accepted', story: `${name} was sent ${sent} times without a 2xx` }]
  return kind === 'forged' && accepted > 0 ? [{ rule: 'forged notification accepted', story: name }] : []
}

const matches = ({ events }: Endpoint, event: string) =>
  events === 'all' ||
  events
    .split(',')
    .some((pattern) => (pattern.endsWith('*') ? event.startsWith(pattern.slice(0, -1)) : event === pattern))

function judgeEndpoint(endpoint: Endpoint, received: readonly Webhook[]): Violation[] {
  return received
    .filter(({ event }) => !matches(endpoint, event))
    .map(({ event, webhook_id }) => ({
      rule: 'webhook at a wrong endpoint',
      story: `${event} ${webhook_id} at endpoint ${endpoint.name} (${endpoint.mode}, ${endpoint.events})`,
    }))
}

/** What the log makes due, and what the intents of other systems do. By payment and content. */
function dueCanonical({ intents }: Observations, logged: ReadonlyMap<string, LoggedPayment>): ReadonlyMap<string, Due> {
  const due = new Map<string, Due>()
  const add = (subject: string, event: string, content: string, amount: number | null, least = 1, most = 1) => {
    const key = `${subject} ${event} ${content}`
    const known = due.get(key) ?? { subject, event, content, amount, least: 0, most: 0 }
    known.least += least
    known.most += most
    due.set(key, known)
  }
  for (const { id, events, total_cents } of logged.values())
    for (const event of events) for (const [name, content] of canonicalOf(event)) add(id, name, content, total_cents)
  for (const intent of intents.filter(({ is_foreign }) => is_foreign)) {
    // An intent that names a payment id may be left out; one without is reported by the provider's id.
    const least = intent.payment_id === null ? 1 : 0
    add(intent.id, 'payment.created', 'pending', intent.amount_cents, least)
    if (intent.status === 'succeeded') add(intent.id, 'payment.succeeded', 'succeeded', intent.amount_cents, least)
    if (intent.failures > 0) add(intent.id, 'payment.failed', 'failed', intent.amount_cents, least, intent.failures)
  }
  return due
}

function judgeCanonical(
  endpoint: Endpoint,
  webhooks: readonly Webhook[],
  due: ReadonlyMap<string, Due>,
  { failed_deliveries }: Observations,
): Violation[] {
  const found: Violation[] = []
  const place = `at endpoint ${endpoint.name}`
  const received = Map.groupBy(webhooks, ({ payment_id, event, status, detail }) =>
    [payment_id, event, String(status), ...(detail === null ? [] : [detail])].join(' '),
  )
  for (const [key, { subject, event, content, amount, least, most }] of due) {
    if (!matches(endpoint, event)) continue
    const copies = received.get(key) ?? []
    const ids = new Set(copies.map(({ webhook_id }) => webhook_id))
    const name = `${event} (${content}) about ${subject} ${place}`
    const isFailed = failed_deliveries.includes(`${endpoint.name} ${event} payment-${subject}`)
    if (ids.size < least && !isFailed) found.push({ rule: 'webhook missing', story: name })
    if (ids.size > most)
      found.push({ rule: 'webhook with several ids', story: `${name} has ${[...ids].join(' and ')}` })
    const wrong = copies.find(({ amount_cents }) => amount_cents !== amount)
    if (wrong !== undefined)
      found.push({ rule: 'wrong amount', story: `${name} says ${wrong.amount_cents} instead of ${amount}` })
  }
  for (const [key, [webhook]] of received)
    if (!due.has(key)) found.push({ rule: 'webhook that is not due', story: `${key} ${place}, ${webhook?.webhook_id}` })
  return found
}

function judgeRaw(endpoint: Endpoint, webhooks: readonly Webhook[], { notifications }: Observations): Violation[] {
  const found: Violation[] = []
  const place = `at endpoint ${endpoint.name}`
  const received = Map.groupBy(webhooks, ({ notification_id }) => notification_id)
  const known = new Map<string | null, Notification>(
    notifications.filter(({ kind }) => kind === 'sent').map((each) => [each.id, each]),
  )
  for (const { id, type, provider, kind, accepted } of notifications) {
    const name = `${provider}:${type}`
    if (kind !== 'sent' || accepted === 0 || !matches(endpoint, name)) continue
    const ids = new Set((received.get(id) ?? []).map(({ webhook_id }) => webhook_id))
    if (ids.size === 0) found.push({ rule: 'webhook missing', story: `raw ${name} ${id} ${place}` })
    if (ids.size > 1)
      found.push({
        rule: 'webhook with several ids',
        story: `raw ${name} ${id} ${place} has ${[...ids].join(' and ')}`,
      })
  }
  for (const [id, copies] of received) {
    const notification = known.get(id)
    const name = `${notification?.provider}:${notification?.type}`
    if (notification === undefined)
      found.push({ rule: 'webhook that is not due', story: `raw ${copies[0]?.event} ${id}` })
    else if (copies.some(({ event }) => event !== name))
      found.push({ rule: 'raw webhook misnamed', story: `${copies[0]?.event} carries ${id}, which is ${name}` })
  }
  return found
}

/** One id must always stand for the same webhook at the same endpoint. */
function judgeIds(webhooks: readonly Webhook[]): Violation[] {
  const found: Violation[] = []
  for (const [id, copies] of Map.groupBy(webhooks, ({ webhook_id }) => webhook_id)) {
    const contents = new Set(
      copies.map(({ endpoint, event, status, payment_id, notification_id, detail }) =>
        [endpoint, event, status, payment_id, notification_id, detail].filter((part) => part !== null).join(' '),
      ),
    )
    if (contents.size > 1)
      found.push({ rule: 'one webhook id for two webhooks', story: `${id}: ${[...contents].join(' and ')}` })
  }
  return found
}
