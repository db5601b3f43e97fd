/* The headers are C as well: this file is compiled by the C compiler and called by init_test.cpp. */
#include <acl/acl.h>

aclError CallFromC(void);

aclError CallFromC(void) {
  aclmdlIODims dims = {{0}, 0, {0}};
  aclAippInfo* info = NULL;
  aclrtStream stream = NULL;
  (void)dims;
  (void)info;
  (void)stream;
  ACL_APP_LOG(ACL_DEBUG, "called from C, %d", 1);
  return aclrtGetVersion(NULL, NULL, NULL) == ACL_ERROR_INVALID_PARAM ? ACL_SUCCESS : ACL_ERROR_FAILURE;
}
