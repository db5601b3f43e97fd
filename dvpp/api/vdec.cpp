#include <algorithm>

#include "dvpp/api/access.h"
#include "dvpp/api/descriptions.h"
#include "dvpp/api/vdec_session.h"
#include "dvpp/vdec/codecs.h"

using npustream::Status;
using npustream::StatusCode;
using npustream::acl::Fail;
using namespace npustream::dvpp;  // NOLINT: the file holds nothing but C functions

namespace {

aclError FailSend(const Status& status) {
  if (status.code() == StatusCode::kInvalidArgument) return Fail(ACL_ERROR_INVALID_PARAM, status.message());
  if (status.code() == StatusCode::kUnsupported) return Fail(ACL_ERROR_FEATURE_UNSUPPORTED, status.message());
  return Fail(status, npustream::acl::Area::kRuntime);
}

// The compressed bytes of `input` as the host sees them.
aclError LookUpInput(const char *function, const acldvppStreamDesc &input, std::span<const uint8_t> *data) {
  if (input.data == nullptr || input.size == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: the input has no data", function);
  }
  npustream::acl::MemorySpan span;
  const aclError error = npustream::acl::LookUpDevice("input", input.data, input.size, &span);
  if (error != ACL_SUCCESS) return error;
  *data = {reinterpret_cast<const uint8_t *>(span.host), input.size};
  return ACL_SUCCESS;
}

// Sends what `input` says for `ticket`, which says where its picture goes.
aclError Send(const char *function, VdecSession &session, acldvppStreamDesc &input, VdecTicket ticket) {
  std::span<const uint8_t> data;
  if (const aclError error = LookUpInput(function, input, &data); error != ACL_SUCCESS) return error;
  ticket.input = &input;
  if (ticket.output != nullptr && ticket.output->data != nullptr) {
    npustream::acl::MemorySpan span;
    const aclError error =
        npustream::acl::LookUpDevice("output", ticket.output->data, std::max(ticket.output->size, 1u), &span);
    if (error != ACL_SUCCESS) return error;
    ticket.target = reinterpret_cast<uint8_t *>(span.host);
    ticket.target_bytes = ticket.output->size;
  }
  // Once sent, the callback may come at any time and free the input.
  const bool is_last = input.eos != 0;
  if (const Status status = session.Send(data, ticket); !status.ok()) return FailSend(status);
  if (is_last) {
    if (const Status status = session.channel().SendEndOfStream(); !status.ok()) return FailSend(status);
  }
  return ACL_SUCCESS;
}

}  // namespace

aclError aclvdecCreateChannel(aclvdecChannelDesc *channelDesc) {
  if (channelDesc == nullptr || channelDesc->callback == nullptr || channelDesc->thread_id == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: the description is null or lacks callback or thread", __func__);
  }
  if (channelDesc->session != nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: the channel exists already", __func__);
  }
  const auto context = npustream::acl::CurrentContext();
  if (context == nullptr) return npustream::acl::NoContext();
  const DecoderOptions options{static_cast<uint32_t>(channelDesc->en_type), channelDesc->out_pic_format,
                               static_cast<int>(channelDesc->out_pic_width),
                               static_cast<int>(channelDesc->out_pic_height)};
  auto session =
      VdecSession::Create(options, context->device(), channelDesc->thread_id, channelDesc->callback);
  if (!session.ok()) return FailSend(session.status());
  channelDesc->session = std::move(session).value();
  return ACL_SUCCESS;
}

aclError aclvdecDestroyChannel(aclvdecChannelDesc *channelDesc) {
  if (channelDesc == nullptr || channelDesc->session == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: there is no such channel", __func__);
  }
  const Status status = channelDesc->session->Finish();
  channelDesc->session.reset();
  if (!status.ok()) return Fail(ACL_ERROR_WAIT_CALLBACK_TIMEOUT, "{}: {}", __func__, status.message());
  return ACL_SUCCESS;
}

aclError aclvdecDestroyChannelDesc(aclvdecChannelDesc *channelDesc) {
  if (channelDesc != nullptr && channelDesc->session != nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: its channel has not been destroyed", __func__);
  }
  return DestroyHandle(channelDesc, __func__);
}

aclError aclvdecSendFrame(aclvdecChannelDesc *channelDesc, acldvppStreamDesc *input, acldvppPicDesc *output,
                          aclvdecFrameConfig *, void *userData) {
  if (channelDesc == nullptr || channelDesc->session == nullptr || input == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: there is no such channel, or no input", __func__);
  }
  VdecSession &session = *channelDesc->session;
  if (static_cast<uint32_t>(input->format) == kCodecDataFormat) {
    std::span<const uint8_t> data;
    if (const aclError error = LookUpInput(__func__, *input, &data); error != ACL_SUCCESS) return error;
    const Status status = session.channel().SendCodecData(data);
    return status.ok() ? ACL_SUCCESS : FailSend(status);
  }
  if (input->eos != 0 && (input->data == nullptr || input->size == 0)) {
    const Status status = session.channel().SendEndOfStream();
    return status.ok() ? ACL_SUCCESS : FailSend(status);
  }
  if (output == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "{}: the output is null", __func__);
  return Send(__func__, session, *input, {nullptr, output, userData, nullptr, 0});
}

aclError aclvdecSendSkippedFrame(aclvdecChannelDesc *channelDesc, acldvppStreamDesc *input, aclvdecFrameConfig *,
                                 void *userData) {
  if (channelDesc == nullptr || channelDesc->session == nullptr || input == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: there is no such channel, or no input", __func__);
  }
  return Send(__func__, *channelDesc->session, *input, {nullptr, nullptr, userData, nullptr, 0});
}
