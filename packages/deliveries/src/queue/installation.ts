// Which installation the database belongs to.
import type { Pool } from 'pg'

/** The id that was given to the database when its tables were made. @throws when they were not made yet */
export async function installationId(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ id: string }>('select id from webhooks.installation')
  const [row] = rows
  if (row === undefined) throw new Error('The table webhooks.installation is empty')
  return row.id
}
