// The judge's rules for what clients were told: one result for each operation, in the log exactly once, and a final answer.
import type { Action, Answer, LogEvent, Observations, Operation, Violation } from './observations.ts'
import type { LoggedPayment } from './paymentsInLog.ts'

/** What may rightly be rejected: the payer, another client or the provider was faster. */
const allowed: Partial<Record<Action, readonly string[]>> = {
  refund: ['payment_not_refundable', 'refund_exceeds_payment', 'provider_rejected'],
  capture: ['payment_not_capturable', 'payment_declined', 'provider_rejected'],
  cancel: ['payment_not_cancelable'],
  refresh: [],
}

/** The event that creates a resource, and its stream without the id. */
const created: Partial<Record<Action, readonly [stream: string, type: string]>> = {
  'create payment': ['payment-', 'PaymentInitiated'],
  'add address': ['address-', 'AddressAdded'],
  'save method': ['paymentMethod-', 'PaymentMethodAdded'],
  'add product': ['product-', 'ProductAdded'],
}

const isSuccess = ({ status }: Answer) => status === 200 || status === 201

const describe = ({ name, action, key }: Operation) =>
  `${action}, ${name} (${key === null ? 'without a key' : `key ${key}`})`

export function judgeOperations(
  { operations, log, lists }: Observations,
  logged: ReadonlyMap<string, LoggedPayment>,
): Violation[] {
  const at = new Map(log.map((event) => [event.position, event]))
  const byType = Map.groupBy(log, ({ stream, type }) => `${stream} ${type}`)
  return [
    ...operations.flatMap((operation) => judgeOperation(operation, { at, byType, logged })),
    ...judgeRequests(operations, lists),
  ]
}

type Log = {
  readonly at: ReadonlyMap<string, LogEvent>
  readonly byType: ReadonlyMap<string, readonly LogEvent[]>
  readonly logged: ReadonlyMap<string, LoggedPayment>
}

function judgeOperation(operation: Operation, { at, byType, logged }: Log): Violation[] {
  const found: Violation[] = []
  const violate = (rule: string, story: string) => void found.push({ rule, story: `${describe(operation)}: ${story}` })
  const { action, answers, subject, amount_cents, currency, gave_up } = operation
  const successes = answers.filter(isSuccess)
  const ids = [...new Set(successes.map(({ id }) => id))].filter((id) => id !== null)
  if (ids.length > 1) violate('two results for one request', `successes named ${ids.join(' and ')}`)
  if (gave_up) violate('no final answer', `only ${answersOf(answers)}`)
  for (const rejected of answers.filter((answer) => isWrongRejection(operation, answer)).slice(0, 1))
    violate('valid request rejected', `${rejected.status} ${rejected.code}`)
  for (const { position } of successes)
    if (position === null || !at.has(position)) violate('write not in the log', `position ${position} has no event`)
  const [stream, type] = created[action] ?? []
  for (const id of stream === undefined ? [] : ids) {
    const times = byType.get(`${stream}${id} ${type}`)?.length ?? 0
    if (times !== 1) violate('write not in the log once', `${stream}${id} has ${type} ${times} times`)
  }
  const payment = logged.get(action === 'create payment' ? (ids[0] ?? '') : (subject ?? ''))
  if (action === 'create payment' && payment !== undefined) {
    const recorded = `${payment.total_cents} ${payment.currency}`
    if (recorded !== `${amount_cents} ${currency}`)
      violate('write altered', `${recorded} instead of ${amount_cents} ${currency}`)
  }
  for (const id of action === 'refund' ? ids : []) {
    const about = payment?.events.filter(({ data }) => data.refund_id === id) ?? []
    const other = about.find(
      ({ data: { refund_cents } }) => ![undefined, amount_cents].includes(refund_cents as number),
    )
    if (about.length === 0) violate('write not in the log once', `refund ${id} is not in the log`)
    else if (amount_cents !== null && other !== undefined)
      violate('write altered', `${other.type} of ${other.data.refund_cents} instead of ${amount_cents}`)
  }
  const isCaptured = successes.length > 0 && action === 'capture' && amount_cents !== null
  if (isCaptured && payment?.received_cents !== amount_cents)
    violate('write altered', `captured ${payment?.received_cents} instead of ${amount_cents}`)
  if (successes.length > 0 && action === 'cancel' && payment?.status !== 'canceled')
    violate('write not in the log', `the payment is ${payment?.status}`)
  return found
}

/** Whether the answer blames the client, though its request is valid. */
function isWrongRejection({ action, answers }: Operation, answer: Answer): boolean {
  const { status, code } = answer
  if (status === null || status < 400 || status >= 500) return false
  // A network that holds a request back makes it come too late, and nothing was done.
  if (status === 408 || status === 429) return false
  if (code === 'idempotency_key_in_flight' || code === 'concurrent_modification') return false
  // It is gone, because an earlier request whose response was lost has deleted it.
  const isGone = code === 'not_found' && action.startsWith('delete') && answers.indexOf(answer) > 0
  return !isGone && !allowed[action]?.includes(code ?? '')
}

function answersOf(answers: readonly Answer[]): string {
  return answers.map(({ status, code }) => code ?? status ?? 'no response').join(', ') || 'nothing'
}

/** Each payment has the name of its request, also one whose response was lost. */
function judgeRequests(operations: readonly Operation[], lists: Observations['lists']): Violation[] {
  const names = new Map(operations.map((operation) => [operation.name, operation]))
  const listed = Map.groupBy(lists.get('administrator') ?? [], ({ reference_code }) => reference_code)
  return [...listed].flatMap(([reference, all]): Violation[] => {
    const ids = [...new Set(all.map(({ id }) => id))]
    if (ids.length > 1) return [{ rule: 'two results for one request', story: `${reference}: ${ids.join(', ')}` }]
    return names.has(reference ?? '')
      ? []
      : [{ rule: 'payment that nobody requested', story: `${ids[0]} (${reference})` }]
  })
}
