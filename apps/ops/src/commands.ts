// The commands by the words that call them, in the order of the help. Only the one that is called is loaded.
import type { CliCommand } from './command.ts'

export const commands: Readonly<Record<string, () => Promise<CliCommand>>> = {
  'streams read': async () => (await import('./streams/read.ts')).streamsRead,
  'streams export': async () => (await import('./streams/export.ts')).streamsExport,
  'streams verify-export': async () => (await import('./streams/verifyExport.ts')).streamsVerifyExport,
  'streams copy': async () => (await import('./streams/copy.ts')).streamsCopy,
  'streams grant': async () => (await import('./streams/grant.ts')).streamsGrant,
  'payment show': async () => (await import('./payments/show.ts')).paymentShow,
  'payments reconcile': async () => (await import('./payments/reconcile.ts')).paymentsReconcile,
  'projections list': async () => (await import('./projections/list.ts')).projectionsList,
  'projections rebuild': async () => (await import('./projections/rebuild.ts')).projectionsRebuild,
  'projections verify': async () => (await import('./projections/verify.ts')).projectionsVerify,
  'projections prune': async () => (await import('./projections/prune.ts')).projectionsPrune,
  'products import': async () => (await import('./products/import.ts')).productsImport,
  'sandbox settle': async () => (await import('./sandbox/settle.ts')).sandboxSettle,
  'webhooks list': async () => (await import('./webhooks/list.ts')).webhooksList,
  'webhooks redeliver': async () => (await import('./webhooks/redeliver.ts')).webhooksRedeliver,
  'webhooks backfill': async () => (await import('./webhooks/backfill.ts')).webhooksBackfill,
  'webhooks enable': async () => (await import('./webhooks/enable.ts')).webhooksEnable,
  migrate: async () => (await import('./migrate.ts')).migrateTables,
}
