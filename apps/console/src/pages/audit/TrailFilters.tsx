// The filters of the audit trail.
import { auditedActions } from '@paylog/domain/auditedActions'
import { ChoiceFilter, ClearFilters, choicesOf, TextFilter, TimeFilter } from '../../parts/filters.tsx'
import { type AuditSearch, trailFilters } from './auditSearch.ts'

const actions = choicesOf(auditedActions.toSorted())

export function TrailFilters(props: { readonly search: AuditSearch; readonly change: (changes: AuditSearch) => void }) {
  const { search, change } = props
  return (
    <search className="filterPanel" aria-label="Filters of the audit trail">
      <div className="filters">
        <ChoiceFilter
          label="Action"
          any="Any"
          choices={actions}
          value={search.action}
          change={(action) => change({ action })}
        />
        <TextFilter label="Actor" placeholder="session:…" value={search.actor} change={(actor) => change({ actor })} />
        <TextFilter isWide label="Target id" value={search.target} change={(target) => change({ target })} />
        <TimeFilter
          label="After"
          value={search.created_at_from}
          change={(created_at_from) => change({ created_at_from })}
        />
        <TimeFilter label="Until" value={search.created_at_to} change={(created_at_to) => change({ created_at_to })} />
      </div>
      <div className="row">
        <ClearFilters names={trailFilters} search={search} change={change} />
      </div>
    </search>
  )
}
