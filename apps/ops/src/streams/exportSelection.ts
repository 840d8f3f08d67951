// The filters of an export on the command line.
import { type ExportFilters, filterProblem } from '@paylog/event-store/export/filters'
import { categories } from '@paylog/event-store/streamName'
import { UsageError } from '../command.ts'
import { type ReadOptions, text, time } from '../options.ts'

export const filterOptions = {
  category: text('C', 'streams of this category: the part of the name before the first dash, such as payment'),
  stream: text('S', 'one stream'),
  type: text('T', 'events of this type, such as PaymentSucceeded'),
  since: time('recorded at this time or later'),
  until: time('recorded before this time, which must be at least 10 s ago'),
}

/** @param now in ms since 1970 @throws UsageError */
export function readFilters(given: ReadOptions<typeof filterOptions>, now: number): ExportFilters {
  const { category = null, stream = null, type = null } = given
  const [since = null, until = null] = [given.since, given.until].map(timeText)
  const filters = { category, stream, type, since, until }
  const problem = filterProblem(filters, now)
  if (problem !== undefined) throw new UsageError(`--${problem.field} ${problem.message}`)
  return filters
}

const timeText = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())

/** A warning for a probably mistyped category. */
export function categoryWarning({ category }: ExportFilters): string | undefined {
  if (category === null || categories.some((known) => known === category)) return undefined
  return `Paylog has no category ${category}. It has ${categories.join(', ')}.`
}
