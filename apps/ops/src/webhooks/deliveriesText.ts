// Texts of the webhooks commands.
import { DomainError } from '@paylog/domain/errors'
import { listEndpoints } from '@paylog/webhooks/deliveries/operations/endpointList'
import { OpsError } from '../command.ts'
import type { Pool } from '../system.ts'
import { counted } from '../texts.ts'

export const deliveriesText = (count: number) => counted(count, 'delivery', 'deliveries')

/** @returns what a route returned about an endpoint @throws OpsError with the known ones for an unknown one */
export async function whenKnown<Data>(pool: Pool, node: string, returned: Promise<Data>): Promise<Data> {
  return await returned.catch(async (error: unknown) => {
    if (!(error instanceof DomainError && error.code === 'not_found')) throw error
    throw new OpsError(await unknownEndpoint(pool, node))
  })
}

/** The message for an unknown endpoint, with the known ones. */
async function unknownEndpoint(pool: Pool, endpoint: string): Promise<string> {
  const known = (await listEndpoints(pool)).map((row) => row.endpoint)
  return `There is no endpoint ${endpoint}. ${known.length === 0 ? 'None has been configured yet.' : `Known endpoints: ${known.join(', ')}.`}`
}
