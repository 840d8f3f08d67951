import type { AuditTrailQuery } from '../../api/apiTypes.ts'
import { textsOf } from '../../search.ts'

const names = ['action', 'actor', 'actor_email', 'target', 'created_at_from', 'created_at_to', 'cursor'] as const

/** The filters of the audit trail in the URL, named as those of GET /admin/audit-trail. */
export const auditSearch = (search: Record<string, unknown>) => textsOf(search, names)
export type AuditSearch = ReturnType<typeof auditSearch>

export const auditTrailQuery = (search: AuditSearch): AuditTrailQuery => ({ ...search, limit: 25 })
