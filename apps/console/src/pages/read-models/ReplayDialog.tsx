// Asks before a rebuild or a verification, and leads to its job.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, dataOf } from '../../api/api.ts'
import type { ProjectionReport } from '../../api/apiTypes.ts'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { ErrorState } from '../../parts/states.tsx'

export type Replay = { readonly kind: 'rebuild' | 'verify'; readonly report: ProjectionReport }

const operations = { rebuild: api.rebuildProjection, verify: api.verifyProjection }
const words = { rebuild: 'Rebuild', verify: 'Verify' }

export function ReplayDialog({ replay, close }: { readonly replay: Replay; readonly close: () => void }) {
  const { kind, report } = replay
  const client = useQueryClient()
  const { reason, reasonField } = useReason()
  const navigate = useNavigate()
  const start = useMutation({
    mutationFn: () => dataOf(operations[kind]({ path: { name: report.projection }, header: reasonHeader(reason) })),
    onSuccess(job) {
      void client.invalidateQueries({ queryKey: ['jobs'] })
      void client.invalidateQueries({ queryKey: ['projections'] })
      void navigate({ to: '/jobs/$id', params: { id: job.id } })
    },
  })
  return (
    <ConfirmDialog
      opened
      title={`${words[kind]} ${report.projection}`}
      confirm={words[kind]}
      isRunning={start.isPending}
      close={close}
      submit={() => start.mutate()}
    >
      <p>{kind === 'rebuild' ? rebuildText(report) : verifyText(report)}</p>
      <p className="hint">It reads the whole log, which loads the event store and Postgres. It can be canceled.</p>
      {reasonField}
      {start.isError && <ErrorState error={start.error} />}
    </ConfirmDialog>
  )
}

const rebuildText = ({ projection }: ProjectionReport) =>
  `A new table of ${projection} is filled from the log beside the live one. Queries go on meanwhile; then they switch to it, and both tables are compared. A rebuild that was canceled or interrupted is continued.`

const verifyText = ({ projection }: ProjectionReport) =>
  `The log is replayed into a separate table, which is compared with the live one of ${projection} as of one moment. Nothing is changed.`
