// What each read model is for, and its state in words.
import type { ProjectionReport } from '../../api/apiTypes.ts'
import { formatDuration } from '../../format/time.ts'
import type { Tone } from '../../parts/Badge.tsx'

const uses: Readonly<Record<string, string>> = {
  payments: 'The list of payments, its search, and the overview',
  refunds: 'Refunds, and reports',
  disputes: 'Disputes, and reports',
  payment_methods: 'Saved payment methods of customers',
  addresses: 'Addresses of customers',
  defaults: 'Which method and address a customer uses first',
  products: 'The catalogue',
  audit_trail: 'Audit: what administrators did',
}

/** Where one meets it; undefined for one of another version. */
export const purposeOf = (projection: string): string | undefined => uses[projection]

/** For example "payment methods". */
export const readModelName = (projection: string): string => projection.replaceAll('_', ' ')

export type ReadModelState = {
  readonly word: string
  readonly tone: Tone
  /** What it means, and what to do; undefined when there is nothing to do. */
  readonly advice?: string
}

/** A read model that is further behind is not just busy. */
const slowSeconds = 60

export const liveTable = ({ tables }: ProjectionReport) => tables.find(({ state }) => state === 'live')

export function readModelState(report: ProjectionReport): ReadModelState {
  const { stopped_because, is_running, lag, schema_version } = report
  const live = liveTable(report)
  if (live === undefined)
    return {
      word: 'being prepared',
      tone: 'warn',
      advice: 'Its first table is filled. Its pages work when that is done.',
    }
  if (stopped_because !== null)
    return {
      word: 'stopped',
      tone: 'bad',
      advice: `It met something that it cannot read: ${stopped_because}. Its pages show what was true before. Install the version that wrote it, or a newer one; it then goes on by itself.`,
    }
  if (!is_running)
    return {
      word: 'not running',
      tone: 'bad',
      advice: 'No projector keeps it up to date. Start the projector, or look at its log.',
    }
  if (schema_version !== null && schema_version !== live.schema_version)
    return {
      word: 'older version',
      tone: 'warn',
      advice: `Its table is of schema version ${live.schema_version}, this program has ${schema_version}. The projector rebuilds it; start a rebuild if that has failed.`,
    }
  return lagState(lag)
}

function lagState(lag: ProjectionReport['lag']): ReadModelState {
  if (lag === null)
    return { word: 'not known', tone: 'warn', advice: 'How far it is could not be measured. Look at the event store.' }
  if (lag.events === 0) return { word: 'up to date', tone: 'good' }
  const word = `${formatDuration(lag.seconds)} behind`
  if (lag.seconds <= slowSeconds) return { word, tone: 'busy' }
  const events = `${lag.is_more ? 'more than ' : ''}${lag.events.toLocaleString()} events`
  return { word, tone: 'warn', advice: `It has ${events} to read, and catches up by itself. No payment is lost.` }
}
