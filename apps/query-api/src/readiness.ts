// Whether the read side can be relied on, for `/health/ready`.
import { liveCheckpoint } from '@paylog/projections/checkpoints'
import type { Queryable } from '@paylog/projections/namedQuery'
import { projections } from '@paylog/projections/registry'
import type { Health } from '@paylog/runtime/health'
import { webhookFigures } from './webhookFigures.ts'

/**
 * Adds the database and every projection to readiness. A projection that stopped for an unreadable event is not ready.
 * The webhooks are shown beside them and never fail: an API that is taken out of service for them would refuse payments.
 */
export function checkReadSide(health: Health, db: Queryable): void {
  health.check('postgres', async () => {
    await db.query('select 1')
    return {}
  })
  for (const { name } of projections) {
    health.check(`projection ${name}`, async () => {
      const checkpoint = await liveCheckpoint(db, name)
      if (checkpoint?.stopped_because) throw new Error(checkpoint.stopped_because)
      return { position: checkpoint?.position?.commit.toString() ?? null, read_at: checkpoint?.updated_at ?? null }
    })
  }
  health.check('webhooks', () => webhookFigures(db))
}
