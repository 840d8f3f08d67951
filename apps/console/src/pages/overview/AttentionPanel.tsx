// What a human has to look at, the worst first, each with the page that shows it.
import { useQuery } from '@tanstack/react-query'
import type { AttentionItem } from '../../api/apiTypes.ts'
import { attentionQuery } from '../../api/frameQueries.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { Time } from '../../parts/Time.tsx'
import { linkTo, toneOf, worstFirst } from './attentionText.ts'

export function AttentionPanel() {
  const query = useQuery(attentionQuery)
  const isUncertain = query.isError && query.data?.length === 0
  return (
    <Panel title="Needs attention" isFlush>
      <QueryTable
        what="things that need attention"
        // That nothing needs attention is said only while the API says so.
        query={isUncertain ? { ...query, data: undefined } : query}
        rowsOf={worstFirst}
        columns={columns}
        rowKey={({ code, message }) => `${code} ${message}`}
        rowLink={({ link }) => linkTo(link)}
        empty={{ title: 'Nothing needs attention' }}
      />
    </Panel>
  )
}

const columns: readonly Column<AttentionItem>[] = [
  { header: 'What', narrow: 'title', cell: ({ message }) => <span className="clamped">{message}</span> },
  {
    header: 'Kind',
    isShort: true,
    narrow: 'detail',
    cell: (item) => <Badge text={item.code} tone={toneOf(item)} />,
  },
  { header: 'Last, or since', narrow: 'detail', cell: ({ occurred_at }) => <Time value={occurred_at} /> },
]
