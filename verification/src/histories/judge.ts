// Judges a history after everything has settled: compares what clients were told, the log, the provider's books and the worker's
// tables. Shares no code with the product.
import { canonicalOf } from '../canonicalOf.ts'
import type { Account, Books } from './books.ts'
import { type Asked, describe, isRepeatable, type Target } from './clients.ts'
import type { ProviderName } from './providers/providers.ts'
import type { LoggedEvent } from './simulatedLog.ts'
import type { DeliveryRow, FollowUpRow } from './simulatedTables.ts'

export type Evidence = {
  readonly provider: ProviderName
  readonly targets: readonly Target[]
  readonly asked: readonly Asked[]
  readonly accepted: readonly string[]
  readonly unaccepted: number
  readonly events: readonly LoggedEvent[]
  readonly books: Pick<Books, 'accountOf'>
  readonly followUps: ReadonlyMap<string, FollowUpRow>
  readonly deliveries: ReadonlyMap<string, DeliveryRow>
}

export type Violation = { readonly rule: string; readonly story: string }

type Report = (rule: string, story: string) => void

export function judge(evidence: Evidence): Violation[] {
  const found: Violation[] = []
  const report: Report = (rule, story) => void found.push({ rule, story })
  judgeLog(evidence, report)
  for (const target of evidence.targets) judgePayment(evidence, target, report)
  for (const asked of evidence.asked) judgeAnswers(evidence, asked, report)
  judgeWebhooks(evidence, report)
  return found
}

function judgeLog({ events, accepted, unaccepted }: Evidence, report: Report): void {
  const last = new Map<string, number>()
  const ids = new Set<string>()
  for (const { stream, revision, id, type } of events) {
    if (revision !== (last.get(stream) ?? -1) + 1) report('revisions not contiguous', `${stream} has ${revision}`)
    last.set(stream, revision)
    if (ids.has(id)) report('event recorded twice', `${type} in ${stream}`)
    ids.add(id)
  }
  if (unaccepted > 0) report('notification never accepted', `${unaccepted} of them`)
  const received = events.filter(({ type }) => /^ProviderNotificationReceived|^ProviderEventReceived/.test(type))
  for (const id of new Set(accepted)) {
    const times = received.filter(({ data }) => data.provider_event_id === id).length
    if (times !== 1) report('notification not recorded once', `${id} is in the log ${times} times`)
  }
}

const cents = (value: unknown) => (typeof value === 'number' ? value : 0)
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)

type Fold = {
  readonly status: string
  readonly received_cents: number
  readonly refunded_cents: number
  readonly open: readonly string[]
  readonly disputes: readonly unknown[]
  readonly hasConflict: boolean
}

const statusAfter: Readonly<Record<string, string>> = {
  PaymentInitiated: 'pending',
  PaymentAttemptStarted: 'pending',
  PaymentActionRequired: 'pending',
  PaymentProcessingStarted: 'processing',
  PaymentSucceeded: 'succeeded',
  PaymentAttemptFailed: 'failed',
  PaymentCanceled: 'canceled',
}

/** What the log says of a payment. */
function fold(events: readonly LoggedEvent[]): Fold {
  let status = 'none'
  let [received, open] = [0, new Set<string>()]
  const refunds = new Map<unknown, { status: unknown; cents: number }>()
  const disputes = new Map<unknown, unknown>()
  let [hasConflict, isThrottled] = [false, false]
  for (const { type, data } of events) {
    const isRejected = type === 'ProviderCallFailed' && data.outcome === 'rejected'
    status = isRejected && data.call === 'create' ? 'failed' : (statusAfter[type] ?? status)
    if (type === 'PaymentInitiated' || type === 'PaymentAttemptStarted') open.add('create')
    if (type === 'ProviderIntentCreated') open.delete('create')
    if (type === 'PaymentAttemptStarted' || (type === 'ProviderCallFailed' && data.call === 'create'))
      isThrottled = data.outcome === 'throttled'
    if (type === 'PaymentCancelRequested') open.add('cancel')
    if (type === 'PaymentCaptureRequested') open.add('capture')
    if (type === 'RefundRequested') open.add(`refund ${data.refund_id}`)
    if (type === 'RefundRecorded') open.delete(`refund ${data.refund_id}`)
    if (isRejected) open.delete(data.call === 'refund' ? `refund ${data.refund_id}` : String(data.call))
    if (status === 'succeeded' || status === 'canceled') open = new Set([...open].filter((call) => !/^ca/.test(call)))
    if (type === 'PaymentSucceeded') received = cents(data.received_cents)
    if (type === 'PaymentConflictDetected') {
      hasConflict = true
      received += cents(data.reported_amount_cents)
    }
    if (type === 'RefundRecorded') refunds.set(data.refund_id, { status: data.status, cents: cents(data.refund_cents) })
    if (type === 'PaymentDisputeRecorded') disputes.set(data.provider_dispute_id, data.status)
  }
  // A throttled call had no effect, and is not made again for a canceled payment.
  if (isThrottled && status === 'canceled') open.delete('create')
  const succeeded = [...refunds.values()].filter((refund) => refund.status === 'succeeded')
  return {
    status,
    received_cents: received,
    refunded_cents: sum(succeeded.map((refund) => refund.cents)),
    open: [...open],
    disputes: [...disputes.values()],
    hasConflict,
  }
}

/** The statuses that fit what the provider's books say. */
const fitting: Readonly<Record<Account['state'], RegExp>> = {
  none: /^(none|failed|canceled)$/,
  open: /^(pending|failed)$/,
  processing: /^processing$/,
  authorized: /^processing$/,
  paid: /^succeeded$/,
  canceled: /^canceled$/,
}
/** Where a page cannot be closed: after a cancellation nothing is captured of what is paid there, and it lapses. */
const lapsing: ReadonlySet<string> = new Set(['paypal', 'authorize-net'])

function judgePayment({ provider, events, books, followUps }: Evidence, target: Target, report: Report): void {
  const { payment_id, amount_cents } = target
  const stream = `payment-${payment_id}`
  const own = events.filter((event) => event.stream === stream)
  const recorded = fold(own)
  const account = books.accountOf(payment_id)
  const say = (rule: string, story: string) => report(rule, `${story} (log: ${own.map(({ type }) => type).join(', ')})`)
  const { status, received_cents, refunded_cents } = recorded
  const fits = fitting[account.state].test(status)
  const mayLapse =
    lapsing.has(provider) && /^(open|processing|authorized)$/.test(account.state) && status === 'canceled'
  const isReported = account.state === 'paid' && status === 'canceled' && recorded.hasConflict
  if (!fits && !mayLapse && !isReported) say('wrong status', `${status} in the log, ${account.state} at the provider`)
  if (account.charges > 1) say('charged twice', `${account.charges} charges`)
  if (account.payable > 1) say('two payable intents', `${account.payable} intents`)
  if (received_cents !== account.received_cents)
    say('received amount differs', `${received_cents} in the log, ${account.received_cents} at the provider`)
  if (refunded_cents !== account.refunded_cents)
    say('refunded amount differs', `${refunded_cents} in the log, ${account.refunded_cents} at the provider`)
  if (account.refunded_cents > account.received_cents || account.received_cents > amount_cents)
    say('more moved than allowed', `received ${account.received_cents}, refunded ${account.refunded_cents}`)
  const refunds = Map.groupBy(
    account.refunds.filter(({ refund_id }) => refund_id !== null),
    ({ refund_id }) => refund_id,
  )
  for (const [id, all] of refunds) if (all.length > 1) say('refunded twice', `${all.length} refunds for ${id}`)
  if (recorded.open.length > 0) say('call never ended', recorded.open.join(', '))
  const isFinal = status === 'succeeded' || status === 'canceled' || status === 'none' || account.state === 'none'
  if (!isFinal && !followUps.has(stream)) say('nobody looks again', `the payment is ${status}`)
  if (String(recorded.disputes) !== String(account.disputes))
    say('dispute differs', `${recorded.disputes} in the log, ${account.disputes} at the provider`)
}

function judgeAnswers({ events, books, asked: all }: Evidence, asked: Asked, report: Report): void {
  const { operation, target, answers, isOver } = asked
  const { payment_id, amount_cents } = target
  const say = (rule: string, story: string) =>
    report(rule, `${describe(operation)}: ${story} (answers: ${answers.map(({ code }) => code).join(', ')})`)
  const own = events.filter(({ stream }) => stream === `payment-${payment_id}`)
  const types = own.map(({ type }) => type)
  if (!isOver) say('no answer', 'the client still waits')
  const bug = answers.find(({ code }) => code.startsWith('internal error'))
  if (bug) say('internal error', bug.code)
  const last = answers.at(-1)?.code
  const isRepeated = isRepeatable(operation)
  if (
    isRepeated &&
    (last === 'no response' || last === 'event_store_unavailable' || last === 'idempotency_key_in_flight')
  )
    say('no final answer', 'after the last fault')
  if (!answers.some(({ code }) => code === 'ok')) return
  const account = books.accountOf(payment_id)
  if (operation.kind === 'create') {
    const opened = own.filter(({ type, data }) => type === 'PaymentInitiated' && data.total_cents === amount_cents)
    if (opened.length !== 1) say('acknowledged payment not recorded once', `it is in the log ${opened.length} times`)
    const same = all.filter((other) => other.operation.kind === 'create' && other.target === target)
    const intents = new Set(same.flatMap((other) => other.answers.flatMap(({ intent }) => intent ?? [])))
    if (intents.size > 1) say('two results for one key', [...intents].join(', '))
  }
  if (operation.kind === 'cancel') {
    if (!types.includes('PaymentCanceled')) say('acknowledged cancellation not recorded', '')
    if (account.state === 'paid' && !types.includes('PaymentConflictDetected'))
      say('paid after an acknowledged cancellation', `${account.received_cents} received`)
  }
  if (operation.kind === 'capture' && account.received_cents !== (operation.amount_cents ?? amount_cents))
    say('acknowledged capture differs', `${account.received_cents} at the provider`)
  if (operation.kind === 'refund') {
    const { refund_id } = operation
    if (!own.some(({ type, data }) => type === 'RefundRequested' && data.refund_id === refund_id))
      say('acknowledged refund not recorded', refund_id)
  }
}

function judgeWebhooks({ events, deliveries }: Evidence, report: Report): void {
  const due = events
    .filter(({ stream }) => stream.startsWith('payment-'))
    .flatMap((event) => canonicalOf(event).map(([name]) => `${name} of ${event.id}`))
  const planned = [...deliveries.values()]
    .filter(({ event }) => event.startsWith('payment.'))
    .map(({ event, source_event_id }) => `${event} of ${source_event_id}`)
  const missing = due.filter((name) => !planned.includes(name))
  const surplus = planned.filter((name, index) => !due.includes(name) || planned.indexOf(name) !== index)
  if (missing.length > 0) report('webhook missing', missing.join(', '))
  if (surplus.length > 0) report('webhook not due', surplus.join(', '))
}
