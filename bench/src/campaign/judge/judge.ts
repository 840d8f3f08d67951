// Judges a campaign from outside. Shares no code with the product: it compares the responses to clients, the providers' books,
// the API's responses and the received webhooks.
import { decidingIntent, expectedStatus } from './expectedStatus.ts'
import { judgeWebhooks } from './judgeWebhooks.ts'
import type { HistoryEntry, Intent, Observations, Payment, PaymentRequest, Violation } from './observations.ts'

export function judge(observations: Observations): Violation[] {
  return [
    ...observations.requests.flatMap((request) => judgeRequest(request, observations)),
    ...judgeLists(observations),
    ...judgeBooks(observations),
    ...judgePayments(observations),
    ...judgeWebhooks(observations),
  ]
}

const describe = ({ reference, key, provider }: PaymentRequest) =>
  `${reference} (${provider}, ${key === null ? 'without a key' : `key ${key}`})`

function judgeRequest(request: PaymentRequest, { payments, lists }: Observations): Violation[] {
  const found: Violation[] = []
  const violate = (rule: string, story: string) => void found.push({ rule, story: `${describe(request)}: ${story}` })
  const ids = acknowledgedIds(request)
  if (ids.length > 1) violate('two payments for one key', `201 named ${ids.join(' and ')}`)
  if (request.gave_up) violate('no final answer', `only ${answersOf(request)}`)
  const rejected = request.answers.find(({ status }) => isRejection(status))
  if (rejected !== undefined) violate('valid request rejected', `${rejected.status} ${rejected.code}`)
  const listed = lists.get(request.owner) ?? []
  for (const id of ids) {
    const payment = payments.get(id)
    if (payment === undefined) {
      violate('payment lost', `201 named ${id}, which the API does not know`)
      continue
    }
    const { total_cents, currency, reference_code } = payment
    const asked = `${request.amount_cents} ${request.currency} ${request.reference}`
    const recorded = `${total_cents} ${currency} ${reference_code}`
    if (asked !== recorded) violate('payment altered', `${id} is ${recorded} instead of ${asked}`)
    const times = listed.filter((payment) => payment.id === id).length
    if (times !== 1) violate('payment not listed once', `${id} is ${times} times in the list of ${request.owner}`)
  }
  return found
}

function acknowledgedIds({ answers }: PaymentRequest): string[] {
  const ids = answers.flatMap(({ status, payment_id }) => (status === 201 && payment_id !== null ? [payment_id] : []))
  return [...new Set(ids)]
}

/** Whether the answer blames the client. All requests of a campaign are valid. */
function isRejection(status: number | null): boolean {
  return status !== null && status >= 400 && status < 500 && ![409, 429].includes(status)
}

function answersOf({ answers }: PaymentRequest): string {
  return answers.length === 0
    ? 'nothing'
    : answers.map(({ status, code }) => code ?? status ?? 'no response').join(', ')
}

function judgeLists({ lists, payments }: Observations): Violation[] {
  return [...lists].flatMap(([owner, listed]) => {
    const found: Violation[] = []
    for (const [reference, all] of Map.groupBy(listed, ({ reference_code }) => reference_code)) {
      const ids = [...new Set(all.map(({ id }) => id))]
      if (ids.length > 1)
        found.push({ rule: 'two payments for one request', story: `${reference} of ${owner}: ${ids.join(', ')}` })
    }
    for (const { id, status, total_cents } of listed) {
      const payment = payments.get(id)
      if (payment === undefined) found.push({ rule: 'listed payment unknown', story: `${id} of ${owner}` })
      else if (payment.status !== status || payment.total_cents !== total_cents)
        found.push({
          rule: 'list differs from payment',
          story: `${id} of ${owner} is ${status} ${total_cents} in the list, ${payment.status} ${payment.total_cents} by itself`,
        })
    }
    return found
  })
}

function judgeBooks({ intents, payments }: Observations): Violation[] {
  const found: Violation[] = []
  for (const { id, payment_id, is_foreign, provider, status } of intents) {
    if (is_foreign) continue
    if (payment_id === null || !payments.has(payment_id))
      found.push({
        rule: 'intent without payment',
        story: `${provider} has ${id} (${status}) for payment ${payment_id}`,
      })
  }
  for (const [payment_id, all] of Map.groupBy(ownIntents(intents), (intent) => intent.payment_id)) {
    const payable = all.filter(({ status }) => status !== 'canceled')
    if (payable.length > 1)
      found.push({
        rule: 'two payable intents',
        story: `${payment_id}: ${payable.map(({ id, key, status }) => `${id} (${status}, key ${key})`).join(', ')}`,
      })
  }
  const foreign = new Set(intents.filter(({ is_foreign }) => is_foreign).map(({ id }) => id))
  const knownIntents = new Set(ownIntents(intents).map(({ payment_id }) => payment_id))
  for (const { id, provider_id, provider_intent_id } of payments.values()) {
    const hasIntent = provider_id !== 'stripe' || knownIntents.has(id)
    if (provider_intent_id !== null && foreign.has(provider_intent_id))
      found.push({
        rule: 'foreign payment appears as ours',
        story: `${id} has the foreign intent ${provider_intent_id}`,
      })
    else if (!hasIntent) found.push({ rule: 'payment without intent', story: `Stripe has no intent of ${id}` })
  }
  return found
}

const ownIntents = (intents: readonly Intent[]) => intents.filter(({ is_foreign }) => !is_foreign)

function judgePayments({ intents, payments }: Observations): Violation[] {
  const byPayment = Map.groupBy(ownIntents(intents), ({ payment_id }) => payment_id)
  return [...payments.values()].flatMap((payment) => judgePayment(payment, byPayment.get(payment.id) ?? []))
}

function judgePayment(payment: Payment, intents: readonly Intent[]): Violation[] {
  const found: Violation[] = []
  const violate = (rule: string, story: string) => void found.push({ rule, story: `${payment.id}: ${story}` })
  const { provider_intent_id, total_cents, currency } = payment
  const intent = decidingIntent(payment, intents)
  if (provider_intent_id === null)
    violate('intent not recorded', `the provider has ${intent?.id ?? 'none'}, the history ${typesIn(payment.history)}`)
  else if (intent !== undefined && intent.id !== provider_intent_id)
    violate('wrong intent', `recorded ${provider_intent_id}, the provider has ${intent.id}`)
  const status = expectedStatus(intent)
  if (payment.status !== status)
    violate(
      'wrong status',
      `is ${payment.status}, by the provider's books ${status} (${intent?.id ?? 'no intent paid'})`,
    )
  if (intent !== undefined && (intent.amount_cents !== total_cents || intent.currency !== currency))
    violate(
      'wrong amount',
      `is ${total_cents} ${currency}, by the provider's books ${intent.amount_cents} ${intent.currency}`,
    )
  const failures = intent?.failures ?? 0
  for (const story of historyFaults(payment.history, failures)) violate('outcome recorded twice', story)
  const odd = payment.history.find(({ type }) => /Conflict|Mismatch/.test(type))
  if (odd !== undefined) violate('conflict recorded', `the history has ${odd.type}`)
  return found
}

const typesIn = (history: readonly HistoryEntry[]) => history.map(({ type }) => type).join(', ')

/** Counts the outcomes by event type and by change of status, because event types may be renamed. */
function historyFaults(history: readonly HistoryEntry[], failures: number): string[] {
  const changes = history.map(({ status_after }, index) =>
    status_after === history[index - 1]?.status_after ? '' : status_after,
  )
  const allowed: readonly (readonly [RegExp, string, number])[] = [
    [/Succeeded$/, 'succeeded', 1],
    [/Canceled$/, 'canceled', 1],
    [/AttemptFailed$/, 'failed', failures],
    [/IntentCreated$/, '', 1],
    [/^PaymentInitiated$/, '', 1],
  ]
  return allowed.flatMap(([type, status, most]) => {
    const recorded = history.filter((entry) => type.test(entry.type)).length
    const changed = status === '' ? 0 : changes.filter((change) => change === status).length
    const name = status === '' ? type.source : status
    return Math.max(recorded, changed) > most
      ? [`${name} ${Math.max(recorded, changed)} times instead of ${most}: ${typesIn(history)}`]
      : []
  })
}
