// Makes the proof of a payment, saves it as a file, and checks it in the page.
import { Button, Textarea } from '@mantine/core'
import type { HistoryEntry } from '../../../api/apiTypes.ts'
import { ConfirmDialog } from '../../../parts/ConfirmDialog.tsx'
import { download } from '../../../parts/files/download.ts'
import { useLongWork } from '../../../parts/files/useLongWork.ts'
import { Notice } from '../../../parts/Notice.tsx'
import { useReason } from '../../../parts/reason.tsx'
import { ErrorState } from '../../../parts/states.tsx'
import { fetchProof, type ProofFile } from './fetchProof.ts'
import { Verdict } from './Verdict.tsx'
import { useVerifierKeys } from './verifierKeys.ts'

const save = ({ name, text }: ProofFile) => download(name, 'application/json', text)

export function ProveDialog(props: {
  readonly id: string
  readonly entries: readonly HistoryEntry[]
  readonly close: () => void
}) {
  const { id, entries, close } = props
  const { reason, reasonField } = useReason()
  const { text, keys, keep } = useVerifierKeys()
  const { state, start, cancel } = useLongWork<string, ProofFile>()
  const isRunning = state.status === 'running'
  const file = state.status === 'done' ? state.result : undefined
  const prove = () =>
    void start(async (run) => {
      const fetched = await fetchProof(id, reason, run)
      save(fetched)
      return fetched
    })
  return (
    <ConfirmDialog
      opened
      title="Prove this payment"
      size="lg"
      confirm="Make the proof"
      isRunning={isRunning}
      canLeave
      isOver={file !== undefined}
      close={() => {
        cancel()
        close()
      }}
      submit={prove}
    >
      {file === undefined && (
        <p>
          A file with every event of this payment and the signature of the log over it. Whoever has the verifier key can
          check it without trusting us. Personal data in it stays sealed. Making it is recorded in the audit trail.
        </p>
      )}
      <Textarea
        label="Verifier key of the log"
        description="As its operators publish it; ops audit key prints it. Take it from somewhere else than this system: it is what you trust. It stays in this browser"
        placeholder="pay.example.com/log+0a1b2c3d+…"
        autosize
        minRows={1}
        maxRows={4}
        spellCheck={false}
        className="codeField"
        value={text}
        onChange={({ currentTarget }) => keep(currentTarget.value)}
      />
      {file === undefined && reasonField}
      <div className="stack" aria-live="polite">
        {isRunning && state.progress !== undefined && (
          <Notice tone="busy" title="Waiting for the log to sign the newest event">
            It signs every minute. {state.progress}
          </Notice>
        )}
        {state.status === 'failed' && <ErrorState error={state.error} />}
        {file && (
          <>
            <p className="wrap">
              Saved as <code>{file.name}</code>{' '}
              <Button size="compact-xs" variant="default" onClick={() => save(file)}>
                Save again
              </Button>
            </p>
            <Verdict file={file} keys={keys} lastRevision={entries.at(-1)?.revision ?? 0} />
          </>
        )}
      </div>
    </ConfirmDialog>
  )
}
