// What one may want of a payment beyond its facts: a former state, what administrators did to it, and a proof.
import { UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { HistoryEntry } from '../../api/apiTypes.ts'
import { paymentTrailQuery } from '../../api/paymentQueries.ts'
import { Icon } from '../../parts/Icon.tsx'
import { useMay } from '../../session/rights.ts'
import { AsOfBar } from './AsOfBar.tsx'
import { momentsOf } from './asOf.ts'
import { ProveDialog } from './proof/ProveDialog.tsx'

export function PaymentTools(props: {
  readonly id: string
  readonly entries: readonly HistoryEntry[]
  readonly asOf: string | undefined
  readonly choose: (asOf: string | undefined) => void
}) {
  const { id, entries, asOf, choose } = props
  const [isOpen, setOpen] = useState(asOf !== undefined)
  const [isProving, setProving] = useState(false)
  const may = useMay()
  const isShown = isOpen || asOf !== undefined
  const close = () => {
    setOpen(false)
    choose(undefined)
  }
  return (
    <>
      <div className="tools">
        <UnstyledButton aria-expanded={isShown} onClick={() => (isShown ? close() : setOpen(true))}>
          <Icon name="clock" /> As of a time
        </UnstyledButton>
        {may('listAuditTrail') && <AuditLink id={id} />}
        {may('provePayment') && (
          <UnstyledButton onClick={() => setProving(true)}>
            <Icon name="proof" /> Prove this payment
          </UnstyledButton>
        )}
      </div>
      {isShown && <AsOfBar moments={momentsOf(entries)} asOf={asOf} choose={choose} close={close} />}
      {isProving && <ProveDialog id={id} entries={entries} close={() => setProving(false)} />}
    </>
  )
}

function AuditLink({ id }: { readonly id: string }) {
  const { data } = useQuery(paymentTrailQuery(id))
  return (
    <Link to="/audit" search={{ target: id }}>
      <Icon name="audit" /> Audit of this payment
      {data !== undefined && data.length > 0 && <span className="toolCount">{data.length}</span>}
    </Link>
  )
}
