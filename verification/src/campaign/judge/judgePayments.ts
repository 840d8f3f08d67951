// The judge's rules for payments: log, single payment, lists and the providers' books agree, to the cent.
import type { Intent, ListedPayment, LogEvent, Observations, Violation } from './observations.ts'
import { isCreateRejected, type LoggedPayment } from './paymentsInLog.ts'

/** The log and the books of the providers. */
export function judgeBooks(
  { intents, operations }: Observations,
  logged: ReadonlyMap<string, LoggedPayment>,
): Violation[] {
  const own = intents.filter(({ is_foreign }) => !is_foreign)
  const foreign = new Set(intents.filter(({ is_foreign }) => is_foreign).map(({ id }) => id))
  const byPayment = Map.groupBy(own, ({ payment_id }) => payment_id)
  const changes = Map.groupBy(
    operations.filter(({ subject }) => subject !== null),
    ({ subject, action }) => `${action} ${subject}`,
  )
  const found: Violation[] = own
    .filter(({ payment_id }) => payment_id === null || !logged.has(payment_id))
    .map(({ provider, id, status, payment_id }) => ({
      rule: 'intent without payment',
      story: `${provider} has ${id} (${status}) for payment ${payment_id}`,
    }))
  for (const payment of logged.values()) {
    const { intent_id, id } = payment
    if (intent_id !== null && foreign.has(intent_id))
      found.push({ rule: 'foreign payment appears as ours', story: `${id} has the foreign intent ${intent_id}` })
    const isCancelRequested = changes.has(`cancel ${id}`)
    const refunds = (changes.get(`refund ${id}`) ?? []).map(({ amount_cents, answers }) => ({
      cents: amount_cents ?? payment.received_cents,
      isDone: answers.some(({ status }) => status === 201),
    }))
    found.push(...judgePayment(payment, byPayment.get(id) ?? [], { isCancelRequested, refunds }))
  }
  return found
}

type Requested = {
  readonly isCancelRequested: boolean
  readonly refunds: readonly { readonly cents: number; readonly isDone: boolean }[]
}

function judgePayment(payment: LoggedPayment, intents: readonly Intent[], requested: Requested): Violation[] {
  const found: Violation[] = []
  const violate = (rule: string, story: string) => void found.push({ rule, story: `${payment.id}: ${story}` })
  const { intent_id, provider, status, events, open_call, received_cents, refunded_cents } = payment
  const payable = intents.filter((intent) => intent.status !== 'canceled')
  if (payable.length > 1)
    violate('two payable intents', payable.map(({ id, key, status }) => `${id} (${status}, key ${key})`).join(', '))
  const charges = intents.reduce((sum, intent) => sum + intent.charges, 0)
  if (charges > 1) violate('charged more than once', `${charges} charges at ${provider}`)
  if (open_call !== undefined) violate('outcome still unknown', `${open_call} has no end, only ${typesIn(events)}`)
  const intent = intents.find(({ id }) => id === intent_id) ?? payable[0] ?? intents[0]
  if (provider === 'stripe' && intent === undefined && intent_id !== null)
    violate('payment without intent', `Stripe has no intent ${intent_id}`)
  if (intent !== undefined && intent.id !== intent_id)
    violate('wrong intent', `recorded ${intent_id}, the provider has ${intent.id}`)
  const expected = expectedStatuses(intent, events, requested.isCancelRequested)
  if (!expected.includes(status))
    violate(
      'wrong status',
      `is ${status}, by the provider's books ${expected.join(' or ')} (${intent?.id ?? 'not paid'})`,
    )
  const isOther =
    intent !== undefined && (intent.amount_cents !== payment.total_cents || intent.currency !== payment.currency)
  if (isOther) violate('wrong amount', `the provider has ${intent.amount_cents} ${intent.currency}`)
  const received = intent?.received_cents ?? 0
  if (received !== received_cents) violate('wrong amount', `received ${received_cents}, by the books ${received}`)
  const [least, most] = refundBounds(intent, requested.refunds)
  if (refunded_cents < least || refunded_cents > most)
    violate(
      'wrong amount',
      `refunded ${refunded_cents}, by the books ${least === most ? least : `${least} to ${most}`}`,
    )
  for (const story of repetitions(events, intent?.failures ?? 0)) violate('outcome recorded twice', story)
  return found
}

/** At the sandbox, what clients were told. */
function refundBounds(intent: Intent | undefined, refunds: Requested['refunds']): readonly [number, number] {
  if (intent?.refunded_cents !== null) return [intent?.refunded_cents ?? 0, intent?.refunded_cents ?? 0]
  const sumOf = (some: Requested['refunds']) => some.reduce((sum, { cents }) => sum + cents, 0)
  return [sumOf(refunds.filter(({ isDone }) => isDone)), Math.min(sumOf(refunds), intent.received_cents)]
}

/** @param intent `undefined` for a payment that nobody has paid */
function expectedStatuses(
  intent: Intent | undefined,
  events: readonly LogEvent[],
  isCancelRequested: boolean,
): readonly string[] {
  // PayPal's orders and Authorize.Net's forms cannot be canceled there, so that the payer may be too late.
  const isCanceled = isCancelRequested && events.some(({ type }) => type === 'PaymentCanceled')
  if (isCanceled && intent?.provider !== 'stripe') return ['canceled']
  const last = events.findLast((event) => event.type.startsWith('PaymentAttempt') || isCreateRejected(event))
  if (intent === undefined) return [last !== undefined && isCreateRejected(last) ? 'failed' : 'pending']
  if (intent.status === 'open') return [intent.failures > 0 ? 'failed' : 'pending']
  if (intent.status === 'authorized') return ['processing']
  return [intent.status === 'canceled' ? 'canceled' : 'succeeded']
}

const typesIn = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type).join(', ')

function repetitions(events: readonly LogEvent[], failures: number): string[] {
  const most: Readonly<Record<string, number>> = {
    PaymentInitiated: 1,
    ProviderIntentCreated: 1,
    PaymentSucceeded: 1,
    PaymentCanceled: 1,
    PaymentAttemptFailed: failures,
  }
  return Object.entries(most).flatMap(([type, allowed]) => {
    const times = events.filter((event) => event.type === type).length
    return times > allowed ? [`${type} ${times} times instead of ${allowed}: ${typesIn(events)}`] : []
  })
}

/** What the APIs show, and the log. */
export function judgeShown(
  { payments, lists, listed_since, operations }: Observations,
  logged: ReadonlyMap<string, LoggedPayment>,
): Violation[] {
  const found: Violation[] = []
  for (const [id, shown] of payments) {
    const payment = logged.get(id)
    if (shown === undefined) found.push({ rule: 'payment not shown', story: `the API does not know ${id}` })
    else if (payment === undefined) found.push({ rule: 'payment not in the log', story: `the API shows ${id}` })
    else if (amountsOf(shown) !== amountsIn(payment) || shown.provider_intent_id !== payment.intent_id)
      found.push({
        rule: 'payment differs from the log',
        story: `${id} is ${amountsOf(shown)} ${shown.provider_intent_id}, in the log ${amountsIn(payment)} ${payment.intent_id}`,
      })
  }
  for (const [owner, listed] of lists) {
    const times = Map.groupBy(listed, ({ id }) => id)
    for (const [id, [item, ...more]] of times) {
      const payment = logged.get(id)
      if (item === undefined || payment === undefined || more.length > 0 || amountsOf(item) === amountsIn(payment))
        continue
      const story = `${id} of ${owner} is ${amountsOf(item)} in the list, ${amountsIn(payment)} in the log`
      found.push({ rule: 'list differs from the log', story })
    }
    for (const id of expectedIn(owner, { logged, operations, listed_since })) {
      const count = times.get(id)?.length ?? 0
      if (count !== 1)
        found.push({ rule: 'payment not listed once', story: `${id} is ${count} times in the list of ${owner}` })
    }
  }
  return found
}

const amountsOf = (shown: ListedPayment) =>
  `${shown.status} ${shown.total_cents} received ${shown.amount_received_cents} refunded ${shown.amount_refunded_cents}`
const amountsIn = (payment: LoggedPayment) =>
  `${payment.status} ${payment.total_cents} received ${payment.received_cents} refunded ${payment.refunded_cents}`

/** The payments that a list has to have: those that their owner knows of, and for the administrator all. */
function expectedIn(
  owner: string,
  known: Pick<Observations, 'operations' | 'listed_since'> & { readonly logged: ReadonlyMap<string, LoggedPayment> },
): string[] {
  const isRecent = (id: string) => (known.logged.get(id)?.events[0]?.recorded_at ?? 0) >= known.listed_since
  if (owner === 'administrator') return [...known.logged.keys()].filter(isRecent)
  const own = known.operations.filter((each) => each.owner === owner && each.action === 'create payment')
  const ids = own.flatMap(({ answers }) =>
    answers.flatMap(({ status, id }) => (status === 201 && id !== null ? [id] : [])),
  )
  return [...new Set(ids)].filter((id) => known.logged.has(id) && isRecent(id))
}
