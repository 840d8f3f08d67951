// Where a list is a CSV file.
import type { OperationId } from '@paylog/client/client'
import { operationRoutes } from '@paylog/client/operations'

export type CsvList = {
  readonly operation: OperationId
  /** The filters of the list that is shown. Its page does not count. */
  readonly query: Readonly<Record<string, unknown>>
  /** Of the times in the file, such as Europe/Berlin, unless the list has one of its own. */
  readonly timeZone: string
}

const ofPages: readonly string[] = ['page', 'limit', 'offset', 'cursor']

/** The request of a file, relative to the origin. */
export function csvPath({ operation, query, timeZone }: CsvList): string {
  const filters = Object.entries(query).filter(([name, value]) => value !== undefined && !ofPages.includes(name))
  const search = new URLSearchParams(filters.map(([name, value]) => [name, String(value)]))
  if (!search.has('time_zone')) search.set('time_zone', timeZone)
  return `${operationRoutes[operation].path}?${search}`
}
