// Entries of the audit trail in words.
import type { AuditedAction } from '@paylog/domain/auditedActions'
import type { AuditTrailEntry } from '../../api/apiTypes.ts'
import { formatMoney } from '../../format/money.ts'

type Details = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

/** What was done, or asked for. The place of `…` is that of the amount. */
const titles: Readonly<Partial<Record<AuditedAction, string | ((details: Details) => string)>>> = {
  refund_payment: 'Refund of …',
  capture_payment: 'Capture of …',
  cancel_payment: 'Cancellation of a payment',
  refresh_payment: 'Provider asked about a payment',
  show_payment: ({ proof }) => (proof === true ? 'Proof of a payment' : 'Recorded events of a payment read'),
  read_stream: 'Recorded events read',
  reconcile_payments: 'Payments compared with the provider',
  export_log: 'Export of the log',
  export_list: 'List saved as a file',
  redeliver_webhook: 'Webhook sent again',
  redeliver_failed_webhooks: ({ deliveries }) => `Failed webhooks sent again: ${textOf(deliveries) || 'all'}`,
  backfill_webhooks: 'Backfill of an endpoint',
  enable_webhook_endpoint: 'Endpoint enabled',
  start_webhooks: 'Start of webhooks moved',
  rebuild_projection: 'Rebuild of a read model',
  verify_projection: 'Verification of a read model',
  prune_projections: 'Old tables of read models removed',
  cancel_job: ({ kind, subject }) => `Cancellation of a job: ${textOf(kind)} ${textOf(subject)}`.trimEnd(),
  sync_products: 'Products synced to a provider',
  import_products: 'Products imported',
  check_provider: 'Provider checked',
  erase_person: 'Erasure of a person',
  export_person: 'Personal data of a person exported',
  rotate_keys: 'Keys of personal data wrapped again',
  restart_audit_tree: 'Audit tree begun again',
}

/** `refund_payment` becomes Refund payment, where there are no other words. */
const wordsOf = (action: string): string => `${action.charAt(0).toUpperCase()}${action.slice(1).replaceAll('_', ' ')}`

/** What was done, or asked for, with the amount where there is one. */
export function actionText({
  action,
  details,
  amount_cents,
  currency,
}: Pick<AuditTrailEntry, 'action' | 'details' | 'amount_cents' | 'currency'>): string {
  const title = Object.entries(titles).find(([name]) => name === action)?.[1] ?? wordsOf(action)
  const text = typeof title === 'string' ? title : title(details)
  if (!text.includes('…')) return text
  return text.replace('…', () => amountText(amount_cents, currency))
}

function amountText(cents: number | null, currency: string | null): string {
  if (cents === null) return 'all that is left'
  return currency === null ? `${cents} in minor units` : formatMoney(cents, currency)
}

/** The action in a filter, without an amount. */
export const actionLabel = (action: string): string =>
  actionText({ action, details: {}, amount_cents: null, currency: null })
    .replace(/ of all that is left$/, '')
    .replace(/: all$|:$/, '')

/** What the title says already, or nobody needs to read. */
const untold: readonly string[] = ['amount_cents', 'refund_id', 'from_revision', 'proof', 'time_zone', 'by']
const told: Readonly<Partial<Record<string, readonly string[]>>> = {
  cancel_job: ['kind', 'subject'],
  redeliver_failed_webhooks: ['deliveries'],
}

/** What else was asked for, in one line, without what was left open. */
export function detailsText({ action, details }: Pick<AuditTrailEntry, 'action' | 'details'>): string {
  return Object.entries(details)
    .filter(([name, value]) => value !== null && !untold.includes(name) && !told[action]?.includes(name))
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return `${name.replaceAll('_', ' ')} ${name === 'reason' ? text.replaceAll('_', ' ') : text}`
    })
    .join(', ')
}

/** Actions that start a job. It has the id of the entry. */
const startsJob: readonly string[] = ['rebuild_projection', 'verify_projection', 'backfill_webhooks', 'erase_person']

/** The job that an action has started. What version 1.0.0 recorded does not say it. */
export const jobOf = ({ id, action, outcome }: Pick<AuditTrailEntry, 'id' | 'action' | 'outcome'>): string | null =>
  startsJob.includes(action) && outcome === 'done' ? id : null

/** Who acted, when the e-mail address is not known. */
export function actorName(actor: string): string {
  const [kind, name] = actor.split(/:(.*)/s)
  if (kind === 'operator') return name ? `${name}, on the command line` : 'somebody on the command line'
  return kind === 'session' && name ? `user ${name}` : actor
}
