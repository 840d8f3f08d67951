// Texts of the webhooks commands.
import { listEndpoints } from '@paylog/webhooks/deliveries/operations/endpointList'
import type { Pool } from '../system.ts'

export const deliveriesText = (count: number) => (count === 1 ? '1 delivery' : `${count} deliveries`)

/** The message for an unknown endpoint, with the known ones. */
export async function unknownEndpoint(pool: Pool, endpoint: string): Promise<string> {
  const known = (await listEndpoints(pool)).map((row) => row.endpoint)
  return `There is no endpoint ${endpoint}. ${known.length === 0 ? 'None has been configured yet.' : `Known endpoints: ${known.join(', ')}.`}`
}
