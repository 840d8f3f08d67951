// What was erased. Nothing says who it was.
import { useQuery } from '@tanstack/react-query'
import { api, bodyOf, dataOf } from '../../api/api.ts'
import type { AuditTrailEntry, Erasure } from '../../api/apiTypes.ts'
import { pollMs } from '../../api/queryClient.ts'
import { CsvButton } from '../../parts/CsvButton.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { totalOf } from '../../parts/ListTotal.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { Time } from '../../parts/Time.tsx'
import { useMay } from '../../session/rights.ts'
import { actorText } from '../payment/eventText.ts'

export function ErasuresPanel() {
  const may = useMay()
  const query = useQuery({
    queryKey: ['erasures'],
    queryFn: ({ signal }) => bodyOf(api.listErasures({ signal })),
    // An erasure is recorded some time after it was requested.
    refetchInterval: pollMs,
  })
  const trail = useQuery({
    queryKey: ['audit-trail', 'erasures'],
    queryFn: ({ signal }) => dataOf(api.listAuditTrail({ query: { action: 'erase_person', limit: 100 }, signal })),
    enabled: may('listAuditTrail'),
    refetchInterval: pollMs,
  })
  return (
    <Panel title="Erasures" isFlush actions={<CsvButton operation="listErasures" meta={totalOf(query.data)} />}>
      <QueryTable
        what="erasures"
        query={query}
        rowsOf={({ data }) => data}
        columns={columnsWith(trail.data ?? [])}
        rowKey={({ id }) => id}
        rowLink={may('listAuditTrail') ? ({ id }) => ({ to: '/audit', search: { target: id } }) : undefined}
        empty={{ title: 'Nothing was erased', hint: 'Erasures are listed here, without saying who it was.' }}
      />
    </Panel>
  )
}

const kinds: Readonly<Record<Erasure['kind'], string>> = {
  person: 'A person',
  body: 'What providers sent, after its time',
  secret: 'Client secrets, after their time',
}

const columnsWith = (trail: readonly AuditTrailEntry[]): readonly Column<Erasure>[] => {
  const entryOf = ({ id }: Erasure) => trail.find(({ target }) => target?.id === id)
  return [
    {
      header: 'What',
      narrow: 'title',
      cell: ({ kind }) => kinds[kind],
      note: (erasure) => entryOf(erasure)?.reason ?? null,
    },
    {
      header: 'By',
      narrow: 'detail',
      cell: (erasure) => entryOf(erasure)?.actor_email ?? actorText(erasure.actor),
    },
    {
      header: 'Keys destroyed',
      isNumber: true,
      narrow: 'figure',
      cell: ({ keys }) => keys.toLocaleString(),
    },
    { header: 'When', narrow: 'detail', cell: ({ occurred_at }) => <Time value={occurred_at} /> },
  ]
}
