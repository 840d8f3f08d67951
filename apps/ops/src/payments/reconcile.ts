// `payments reconcile`: compares payments with their providers and records missed changes.
import { isCreateRejected } from '@paylog/domain/payments/providerCall'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Workflow } from '@paylog/workflows/context'
import { auditOn, operatorMetadata, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, OpsError, readArguments, readSince } from '../command.ts'
import {
  type CliProgress,
  type CliProgressOutput,
  createProgress,
  createProgressBar,
  createReportWriter,
  type ReportWriter,
} from '../progress.ts'
import { withInterrupt } from '../withInterrupt.ts'
import { openWorkflow } from './providerWorkflow.ts'
import { queryProviders } from './queryProviders.ts'
import { isRemarkable, resultJson, resultText } from './resultText.ts'
import { createTally, type Tally } from './tally.ts'

const paymentStreams = ['payment-']

export const paymentsReconcile: CliCommand = {
  usage: '[--since T] [--all] [--reason TEXT] [--json]',
  summary: 'Compare every open payment with its provider, and record missed changes',
  details: [
    '  --since T      only payments created since then: a time such as 2026-11-01T00:00:00Z, or an age such as 90m, 24h, 7d',
    '  --all          also succeeded and canceled payments',
    reasonHelp,
    '  --json         one object per finding, then one with the counts',
    '',
    'Exits with 0 when every payment matches its provider, if necessary after this run; with 1 when a payment is missing,',
    'different, in conflict or unknown, when a provider could not be reached, or when the run was interrupted.',
    'It may be interrupted and repeated at any time.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], {
      since: { type: 'string' },
      all: { type: 'boolean' },
      ...reasonOption,
      json: { type: 'boolean' },
    })
    const since = values.since === undefined ? undefined : readSince(values.since, Date.now())
    const reason = readAuditReason(values.reason)
    const details = { since: since === undefined ? null : new Date(since).toISOString(), all: values.all === true }
    const workflow = await openWorkflow(environment, errors)
    const progress = createReconcileProgress(errors)
    try {
      await auditOn(workflow.store, reason, { action: 'reconcile_payments', target: null, details })
      await withInterrupt(errors, (signal) =>
        reconcile(workflow, {
          selection: createPaymentSelection({ since, all: values.all === true }),
          ...createReportWriter(progress, print),
          isJson: values.json === true,
          onProgress: progress.show,
          signal,
        }),
      )
    } finally {
      progress.end()
      await workflow.close()
    }
  },
}

type ReconcileRun = ReportWriter & {
  readonly selection: PaymentSelection
  readonly isJson: boolean
  readonly onProgress: (progress: ReconcileProgress) => void
  readonly signal: AbortSignal
}

/**
 * Reads the log, queries the providers, and prints the results, also those found before an interruption.
 * @throws OpsError when payments need attention; UnreadableEventError, DomainError `event_store_unavailable`
 */
export async function reconcile(workflow: Workflow, run: ReconcileRun): Promise<void> {
  const { selection, writeLine, conclude, isJson, onProgress, signal } = run
  await select(workflow.store, run)
  const { payments } = selection
  const tally = createTally()
  let lines = 0
  const metadata = operatorMetadata()
  try {
    for await (const response of queryProviders(workflow, payments, { metadata, signal })) {
      tally.add(response)
      onProgress({ phase: 'checking', checked: tally.checked(), of: payments.size })
      if (!isRemarkable(response)) continue
      await writeLine(isJson ? JSON.stringify(resultJson(response)) : resultText(response))
      lines++
    }
  } finally {
    const [gap, summary] = [lines > 0 ? '\n' : '', summaryText(tally, payments.size)]
    await conclude(isJson ? JSON.stringify(tally.json(payments.size)) : `${gap}${summary}`)
  }
  if (tally.checked() < payments.size)
    throw new OpsError(`Interrupted: ${tally.checked()} of ${payments.size} payments were checked.`)
  const unsettled = tally.unsettled()
  if (unsettled > 0) throw new OpsError(`${count(unsettled)} ${unsettled === 1 ? 'needs' : 'need'} attention.`)
}

async function select(store: EventStore, { selection, onProgress, signal }: ReconcileRun): Promise<void> {
  const head = await store.head()
  if (head === undefined) return
  let events = 0
  for await (const event of store.readLog({ prefixes: paymentStreams })) {
    if (signal.aborted) throw new OpsError('Interrupted before any payment was checked.')
    selection.apply(event)
    events++
    const { payments } = selection
    onProgress({
      phase: 'reading',
      events,
      payments: payments.size,
      position: event.position.commit,
      head: head.commit,
    })
  }
}

function summaryText(tally: Tally, of: number): string {
  if (of === 0) return 'There is no payment to check.'
  const checked = tally.checked()
  const heading = checked === of ? `${count(of)}:` : `${checked} of ${count(of)}, the others were not checked:`
  return `${heading}\n${tally.text()}`
}

const count = (payments: number) => (payments === 1 ? '1 payment' : `${payments} payments`)

export type ReconcileProgress =
  | {
      readonly phase: 'reading'
      readonly events: number
      /** Selected so far. */
      readonly payments: number
      readonly position: bigint
      /** Of the log, greater than 0. */
      readonly head: bigint
    }
  | { readonly phase: 'checking'; readonly checked: number; readonly of: number }

export function createReconcileProgress(output: CliProgressOutput, now?: () => number): CliProgress<ReconcileProgress> {
  const bar = createProgressBar(output)
  return createProgress<ReconcileProgress>(
    output,
    (progress, elapsedMs) => reconcileProgressText(progress, elapsedMs, bar),
    now,
  )
}

function reconcileProgressText(progress: ReconcileProgress, elapsedMs: number, bar: (part: number) => string): string {
  const perSecond = (done: number) => (elapsedMs > 0 ? `, ${Math.round((done * 1_000) / elapsedMs)}/s` : '')
  if (progress.phase === 'checking') {
    const { checked, of } = progress
    return `Checking: ${bar(checked / of)}${checked} of ${of} payments${perSecond(checked)}`
  }
  const { events, payments, position, head } = progress
  const part = Number((position * 1_000n) / head) / 1_000
  return `Reading: ${bar(part)}${events} events${perSecond(events)}, ${payments} payments to check`
}

export type PaymentSelection = {
  /** Payment id to provider id, in the order in which the provider calls began. */
  readonly payments: ReadonlyMap<string, string>
  /** Applies the next event of the log. */
  apply(event: Recorded): void
}

/**
 * Selects payments that may exist at their provider: those with a create call since `since`, unless the provider
 * rejected the call, and unless the payment has succeeded or was canceled.
 * @param options `since` in ms; `all` keeps succeeded and canceled payments
 */
export function createPaymentSelection({
  since,
  all,
}: {
  readonly since: number | undefined
  readonly all: boolean
}): PaymentSelection {
  const payments = new Map<string, string>()
  // Each event has its own copy of the provider id. Sharing one saves memory.
  const providers = new Map<string, string>()
  const nameOf = (provider: string) => {
    const known = providers.get(provider) ?? provider
    providers.set(known, known)
    return known
  }
  return {
    payments,
    apply(event) {
      switch (event.type) {
        case 'PaymentInitiated':
        case 'PaymentAttemptStarted': {
          const { payment_id, provider_id, occurred_at } = event.data
          if (since === undefined || Date.parse(occurred_at) >= since) payments.set(payment_id, nameOf(provider_id))
          return
        }
        case 'ProviderCallFailed':
          if (isCreateRejected(event.data)) payments.delete(event.data.payment_id)
          return
        case 'PaymentSucceeded':
        case 'PaymentCanceled':
          if (!all) payments.delete(event.data.payment_id)
          return
      }
    },
  }
}
