// Asks before a person is erased, and leads to the job.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, dataOf } from '../../api/api.ts'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { ErrorState } from '../../parts/states.tsx'
import { type Person, personBody } from './erasedPerson.ts'

export function EraseDialog({ person, close }: { readonly person: Person; readonly close: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { reason, reasonField } = useReason()
  const erase = useMutation({
    mutationFn: () => dataOf(api.createErasure({ body: personBody(person), header: reasonHeader(reason) })),
    onSuccess(job) {
      void client.invalidateQueries()
      void navigate({ to: '/jobs/$id', params: { id: job.id } })
    },
  })
  return (
    <ConfirmDialog
      opened
      title="Erase this person"
      confirm="Erase for good"
      isDangerous
      isRunning={erase.isPending}
      close={close}
      submit={() => erase.mutate()}
    >
      <p>
        All personal data of <strong>{person.value.trim()}</strong> is erased here, and their customers and saved
        methods at the providers are deleted. This cannot be undone.
      </p>
      {reasonField}
      {erase.isError && <ErrorState error={erase.error} />}
    </ConfirmDialog>
  )
}
