// How long provider bodies and client secrets are kept.
import { ageMs, ageMsOr } from '@paylog/config/kinds'

export const retentionVariables = {
  RETENTION_PROVIDER_BODIES: ageMs('400d'),
  RETENTION_CLIENT_SECRETS: ageMsOr('end', 'end'),
}
