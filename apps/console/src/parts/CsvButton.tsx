// Saves a list as a CSV file: all rows of the filter, not only those that are shown. Hidden from who may not export.
import { Button, Portal } from '@mantine/core'
import type { OperationId } from '@paylog/client/client'
import { formatBytes } from '../format/bytes.ts'
import { timeZoneOf } from '../format/time.ts'
import { usePreferences } from '../layout/Preferences.tsx'
import { useIdentity } from '../session/identity.ts'
import { downloadCsv, type SavedCsv } from './files/downloadCsv.ts'
import { useLongWork, type WorkState } from './files/useLongWork.ts'
import { Icon } from './Icon.tsx'
import type { Total } from './ListTotal.tsx'
import { Notice } from './Notice.tsx'
import { ErrorState } from './states.tsx'

/** A list up to here is kept in memory until it is complete. Above, the browser writes into a file that one chooses. */
const mostInMemory = 100_000

type Props = {
  /** The operation of the list. */
  readonly operation: OperationId
  /** Its filters, as the list that is shown has them; none without it. */
  readonly query?: Readonly<Record<string, unknown>>
  /** How many rows the filter has; undefined where nobody has counted. */
  readonly meta?: Total | undefined
}

export function CsvButton({ operation, query = {}, meta }: Props) {
  const { rights } = useIdentity()
  const { zone } = usePreferences()
  const { state, start, cancel, reset } = useLongWork<number, SavedCsv | undefined>()
  if (!rights.includes('export')) return null
  const timeZone = timeZoneOf(zone)
  const isLarge = meta !== undefined && (!meta.total_is_exact || meta.total > mostInMemory)
  const download = () => void start((run) => downloadCsv({ operation, query, timeZone, isLarge }, run))
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<Icon name="download" />}
        disabled={meta?.total === 0}
        loading={state.status === 'running'}
        onClick={download}
      >
        {`Download ${countText(meta)}as CSV`}
      </Button>
      <Portal>
        <div className="toast" aria-live="polite">
          <DownloadState state={state} cancel={cancel} close={reset} retry={download} />
        </div>
      </Portal>
    </>
  )
}

function countText(meta: Total | undefined): string {
  if (meta === undefined) return ''
  return `${meta.total_is_exact ? '' : 'more than '}${meta.total.toLocaleString()} `
}

function DownloadState(props: {
  readonly state: WorkState<number, SavedCsv | undefined>
  readonly cancel: () => void
  readonly close: () => void
  readonly retry: () => void
}) {
  const { state, cancel, close, retry } = props
  const dismiss = (
    <Button size="compact-xs" variant="default" onClick={close}>
      Close
    </Button>
  )
  if (state.status === 'running')
    return (
      <Notice tone="quiet" title="Downloading">
        <p className="number">{formatBytes(state.progress ?? 0)}</p>
        <Button size="compact-xs" variant="default" onClick={cancel}>
          Cancel
        </Button>
      </Notice>
    )
  if (state.status === 'failed')
    return (
      <Notice tone="bad" title="No file was saved">
        <ErrorState error={state.error} retry={retry} />
        {dismiss}
      </Notice>
    )
  if (state.status === 'done' && state.result)
    return (
      <Notice tone="good" title={`${state.result.rows.toLocaleString()} rows saved`}>
        <p className="wrap">{state.result.name}</p>
        {dismiss}
      </Notice>
    )
  return null
}
