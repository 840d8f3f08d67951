// What the signed-in administrator may do.
import type { OperationId } from '@paylog/client/client'
import { useIdentity } from './identity.ts'
import { mayCall } from './operationRights.ts'

/**
 * @returns whether the signed-in administrator may call an operation. What may not be called has no button.
 * @example
 * const may = useMay()
 * may('createRefund') && <Button>Refund</Button>
 */
export function useMay(): (operation: OperationId) => boolean {
  const { rights } = useIdentity()
  return (operation) => mayCall(rights, operation)
}
