// The filters of the audit trail.
import { auditedActions } from '@paylog/domain/auditedActions'
import type { Filter } from '../../parts/filters/filterTypes.ts'
import type { AuditSearch } from './auditSearch.ts'
import { actionLabel } from './trailText.ts'

const actions = auditedActions
  .map((value) => ({ value, label: actionLabel(value) }))
  .toSorted((one, other) => one.label.localeCompare(other.label))

export const trailFilters: readonly Filter<keyof AuditSearch>[] = [
  { kind: 'choice', label: 'Action', names: ['action'], choices: actions },
  { kind: 'period', label: 'Time', names: ['created_at_from', 'created_at_to'] },
  { kind: 'text', label: 'E-mail', names: ['actor_email'], hint: 'The whole address, as it was at that time' },
  {
    kind: 'text',
    label: 'User id',
    names: ['actor'],
    hint: 'The whole id of who acted',
    parse: (text) => (text.includes(':') ? text : `session:${text}`),
  },
  { kind: 'text', label: 'About', names: ['target'], hint: 'The whole id, for example of a payment' },
]
