// The rows of the read models that came from some streams.
import { projections } from '@paylog/projections/registry'
import type { Pool } from 'pg'

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * By the name of the read model.
 * @throws errors of Postgres
 */
export async function personResources(
  pool: Pick<Pool, 'query'>,
  streams: readonly string[],
): Promise<Readonly<Record<string, readonly object[]>>> {
  const ids = streams.flatMap((stream) => uuid.exec(stream)?.[0] ?? [])
  const found: Record<string, readonly object[]> = {}
  for (const { name, columns } of projections) {
    const ofPayment = 'payment_id' in columns ? 'or payment_id = any($1)' : ''
    const { rows } = await pool.query<{ resource: object }>(
      `select to_jsonb(r) as resource from read_models.${name} as r where id = any($1) ${ofPayment} order by id`,
      [ids],
    )
    found[name] = rows.map(({ resource }) => resource)
  }
  return found
}
