// Syncs the selected products to a provider, after a dry run that says what would happen.
import { Button, Checkbox, Modal, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../../api/api.ts'
import type { Product } from '../../api/apiTypes.ts'
import { randomKey } from '../../format/randomKey.ts'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { ErrorState } from '../../parts/states.tsx'
import { useSession } from '../../session/session.ts'
import { SyncReportView } from './SyncReportView.tsx'

/** As long as a sync of many products may take. */
const timeoutMs = 15 * 60_000

export function SyncDialog({ products, close }: { readonly products: readonly Product[]; readonly close: () => void }) {
  const [provider, setProvider] = useState('')
  const [force, setForce] = useState(false)
  const [updatePrices, setUpdatePrices] = useState(false)
  // Repeating a sync that had no response must not start another one; a dry run records nothing.
  const [key, setKey] = useState(randomKey)
  const { reason, reasonField } = useReason()
  const { isExpired } = useSession()
  const sync = useMutation({
    mutationFn: async (dryRun: boolean) => {
      const body = { product_ids: products.map(({ id }) => id), force, updatePrices, dryRun }
      const header = { 'idempotency-key': dryRun ? randomKey() : key, ...reasonHeader(reason) }
      const named = provider.trim() === '' ? body : { ...body, provider_id: provider.trim() }
      return { dryRun, report: await dataOf(api.syncProducts({ header, body: named, timeoutMs })) }
    },
  })
  const change =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      set(value)
      setKey(randomKey())
      sync.reset()
    }
  const wasTried = sync.data?.dryRun === true
  const isDone = sync.data?.dryRun === false
  const canClose = !sync.isPending && !isExpired
  return (
    <Modal
      opened
      onClose={close}
      size="xl"
      title={products.length === 1 ? 'Sync 1 product' : `Sync ${products.length} products`}
      closeOnEscape={canClose}
      closeOnClickOutside={canClose}
      closeButtonProps={{ 'aria-label': 'Close', disabled: !canClose }}
    >
      <div className="stack">
        <TextInput
          label="Provider"
          description="May be empty when only one provider is enabled"
          value={provider}
          onChange={({ currentTarget }) => change(setProvider)(currentTarget.value)}
        />
        <Checkbox
          label="Sync unchanged products too"
          checked={force}
          onChange={({ currentTarget }) => change(setForce)(currentTarget.checked)}
        />
        <Checkbox
          label="Replace prices that differ at the provider"
          checked={updatePrices}
          onChange={({ currentTarget }) => change(setUpdatePrices)(currentTarget.checked)}
        />
        {wasTried && reasonField}
        {sync.isError && <ErrorState error={sync.error} />}
        {sync.data && <SyncReportView products={products} report={sync.data.report} isDryRun={sync.data.dryRun} />}
        <div className="row dialogActions">
          <Button variant="default" onClick={close} disabled={!canClose}>
            Close
          </Button>
          <Button
            variant={wasTried ? 'default' : 'filled'}
            loading={sync.isPending && sync.variables === true}
            onClick={() => sync.mutate(true)}
          >
            Dry run
          </Button>
          <Button
            disabled={!wasTried || isDone}
            loading={sync.isPending && sync.variables === false}
            onClick={() => sync.mutate(false)}
          >
            Sync now
          </Button>
        </div>
      </div>
    </Modal>
  )
}
