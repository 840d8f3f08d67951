// What the audit trail records. Without imports, because the console has the list too.

/** What is recorded of administrators. A name is never given another meaning, because the log keeps it. */
export const auditedActions = [
  ...(['refund_payment', 'capture_payment', 'cancel_payment', 'refresh_payment'] as const),
  ...(['show_payment', 'read_stream', 'reconcile_payments', 'export_log', 'export_list'] as const),
  ...(['redeliver_webhook', 'redeliver_failed_webhooks', 'backfill_webhooks'] as const),
  ...(['enable_webhook_endpoint', 'test_webhook_endpoint', 'start_webhooks'] as const),
  ...(['rebuild_projection', 'verify_projection', 'prune_projections', 'cancel_job'] as const),
  ...(['sync_products', 'import_products'] as const),
  'check_provider',
  ...(['erase_person', 'export_person', 'rotate_keys'] as const),
  ...(['restart_audit_tree'] as const),
] as const
export type AuditedAction = (typeof auditedActions)[number]
