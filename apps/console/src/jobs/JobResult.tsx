// The report of a job that succeeded. Its fields depend on the kind, and an older job may lack some.
import type { ReactNode } from 'react'
import type { Job } from '../api/apiTypes.ts'
import { formatDuration } from '../format/time.ts'
import { type Fact, Facts } from '../parts/Facts.tsx'
import { JsonView } from '../parts/JsonView.tsx'
import { Notice } from '../parts/Notice.tsx'
import { Dash } from '../parts/Time.tsx'

type Report = Readonly<Record<string, unknown>>

const reportOf = (value: unknown): Report =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}

function shown(value: unknown): ReactNode {
  if (value === null || value === undefined) return <Dash />
  return typeof value === 'number' ? value.toLocaleString() : String(value)
}

export function JobResult({ job }: { readonly job: Job }) {
  const result = reportOf(job.result)
  if (job.kind === 'erase') return <ErasureResult result={result} />
  if (job.kind === 'backfill') return <BackfillResult result={result} />
  return job.kind === 'rebuild' ? <RebuildResult result={result} /> : <VerifyResult result={result} />
}

function BackfillResult({ result }: { readonly result: Report }) {
  const isDryRun = result.dry_run === true
  const missing = Number(result.missing)
  return (
    <>
      <Notice tone={missing > 0 && isDryRun ? 'warn' : 'good'} title={backfillTitle(missing, isDryRun)}>
        {isDryRun ? 'This was a dry run: nothing was created.' : 'They are sent within seconds.'}
      </Notice>
      <Facts
        facts={[
          ['Events read', shown(result.events)],
          [isDryRun ? 'Deliveries missing' : 'Deliveries created', shown(result.missing)],
          ['Deliveries present', shown(result.present)],
          ['Events too old', shown(result.too_old)],
          ['Read up to position', shown(result.position)],
        ]}
      />
    </>
  )
}

const countOf = (value: unknown) => shown(reportOf(value).count)

/** Whether a check found keys, payments or customers at a provider. */
export function hasSomethingToErase(result: Report): boolean {
  const { keys, payments, provider_customers: customers } = result
  return keys !== 0 || reportOf(payments).count !== 0 || (Array.isArray(customers) && customers.length > 0)
}

function ErasureResult({ result }: { readonly result: Report }) {
  const isDryRun = result.dry_run === true
  const users = Array.isArray(result.user_ids) ? result.user_ids.join(', ') : ''
  const customers = Array.isArray(result.provider_customers) ? result.provider_customers.length : 0
  return (
    <>
      <Notice tone={isDryRun ? 'quiet' : result.is_complete === true ? 'good' : 'warn'} title={erasureTitle(result)}>
        {isDryRun ? 'This was a check: nothing was erased.' : 'Amounts, times, statuses and ids stay.'}
      </Notice>
      <Facts
        facts={[
          ['Keys of personal data', shown(result.keys)],
          ['Users', shown(users || null)],
          ['Payments', countOf(result.payments)],
          ['Payments of others, as guest', countOf(result.guest_in_payments)],
          ['Payment methods', countOf(result.payment_methods)],
          ['Addresses', countOf(result.addresses)],
          ['Guest tokens', shown(result.guest_tokens)],
          ['Webhook deliveries', shown(result.deliveries)],
          ['Customers at providers', shown(customers)],
        ]}
      />
      <details>
        <summary>The whole report</summary>
        <JsonView value={result} label="The whole report" />
      </details>
    </>
  )
}

function erasureTitle(result: Report): string {
  const { dry_run, is_complete, keys, at_providers } = result
  if (dry_run === true) return hasSomethingToErase(result) ? 'What would be erased' : 'Nothing is known of this person'
  if (is_complete === true && keys === 0 && Array.isArray(at_providers) && at_providers.length === 0)
    return 'Nothing was found'
  return is_complete === true ? 'The person is erased' : 'The person is erased here, but something is left to do'
}

function backfillTitle(missing: number, isDryRun: boolean): string {
  const deliveries = missing === 1 ? '1 delivery' : `${missing.toLocaleString()} deliveries`
  if (missing === 0) return 'No delivery is missing'
  return isDryRun ? `${deliveries} would be created` : `${deliveries} created`
}

const replayFacts = (result: Report): Fact[] => [
  ['Table', shown(result.table)],
  ['Schema version', shown(result.schema_version)],
  ['Events', shown(result.events)],
  ['Took', typeof result.seconds === 'number' ? formatDuration(result.seconds) : shown(null)],
]

function RebuildResult({ result }: { readonly result: Report }) {
  const comparison = result.comparison === null ? null : reportOf(result.comparison)
  return (
    <>
      {comparison === null ? (
        <Notice tone="good" title="Rebuilt">
          There was no live table of the same schema version to compare with.
        </Notice>
      ) : (
        <Finding
          isEqual={comparison.equal === true}
          equal="Rebuilt: the new table equals the former one"
          differing="Rebuilt: the new table differs from the former one"
          differs={comparison.differing}
        />
      )}
      <Facts
        facts={[
          ...replayFacts(result),
          ['Rows', shown(result.rows)],
          ['Replaced', shown(result.replaced)],
          ['Continued after position', shown(result.resumed_after)],
        ]}
      />
      {comparison !== null && <Differences report={comparison} />}
    </>
  )
}

function VerifyResult({ result }: { readonly result: Report }) {
  const rows = reportOf(result.rows)
  return (
    <>
      <Finding
        isEqual={result.outcome === 'equal'}
        equal="Equal: the live table is what the log says"
        differing="Different: the live table is not what the log says"
        differs={result.differing}
      />
      <Facts
        facts={[
          ...replayFacts(result),
          ['As of position', shown(result.position)],
          ['Rows found', shown(rows.found)],
          ['Rows expected', shown(rows.expected)],
          ['Rows missing', shown(result.missing)],
          ['Rows too many', shown(result.extra)],
          ['Rows that differ', shown(result.different)],
        ]}
      />
      <Differences report={result} />
    </>
  )
}

function Finding(props: {
  readonly isEqual: boolean
  readonly equal: string
  readonly differing: string
  readonly differs: unknown
}) {
  if (props.isEqual) return <Notice tone="good" title={props.equal} />
  return (
    <Notice tone="bad" title={props.differing}>
      {props.differs === 1 ? '1 row differs.' : `${shown(props.differs)} rows differ.`}
    </Notice>
  )
}

function Differences({ report }: { readonly report: Report }) {
  const rows: readonly unknown[] = Array.isArray(report.differences) ? report.differences : []
  if (rows.length === 0) return null
  return (
    <section>
      <h3>{report.truncated === true ? `The first ${rows.length} differing rows` : 'Differing rows'}</h3>
      <JsonView label="Differing rows" value={rows} />
    </section>
  )
}
